package hbasetest

import (
	"net"
	"sync"
	"time"

	"usertrail/internal/store/hbase/wire"
)

// accept accepts connections until the server is killed.
func (c *Cluster) accept(s *server) {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		c.ended.Go(func() {
			var calls sync.WaitGroup
			c.serve(s, nc, &calls)
			calls.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			c.served++
			c.settled.Broadcast()
		})
	}
}

// Settle waits until the requests of all closed connections have run. A client that was killed may leave requests
// that run later. All connections that Dial made must be closed, and no server may have been killed.
func (c *Cluster) Settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.served < c.dialed {
		c.settled.Wait()
	}
}

// serve reads a connection's requests. Each runs in its own goroutine, so responses have any
// order.
func (c *Cluster) serve(s *server, nc net.Conn, calls *sync.WaitGroup) {
	defer nc.Close()
	stop := make(chan struct{})
	defer close(stop)
	c.ended.Go(func() { // a silent connection also ends with the test
		select {
		case <-c.stop:
			nc.Close()
		case <-stop:
		}
	})
	p, err := Accept(nc)
	if err != nil || !s.offers(p.Service) {
		return
	}
	if !c.welcome(s, p) {
		return
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(s.peers, p)
	}()
	for {
		r, err := p.Read()
		if err != nil {
			return
		}
		calls.Go(func() { c.handle(s, p, r, stop) })
	}
}

// welcome counts a connection. It returns false if the server has been killed in the
// meantime.
func (c *Cluster) welcome(s *server, p *Peer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.dead {
		return false
	}
	c.counts.Connections++
	s.peers[p] = true
	return true
}

func (s *server) offers(service string) bool {
	switch wire.Service(service) {
	case wire.MasterService:
		return s.index < 0
	case wire.ClientService:
		return s.index >= 0
	case wire.ClientMetaService:
		return true
	}
	return false
}

// handle executes one request, or lets it fail as a hook chooses.
func (c *Cluster) handle(s *server, p *Peer, r Request, gone <-chan struct{}) {
	if gate := c.gate(s); gate != nil && !c.wait(gate) {
		return
	}
	c.mu.Lock()
	c.counts.Calls[r.Method]++
	call := Call{Server: s.index, Method: r.Method, N: c.counts.Calls[r.Method], Timeout: r.Timeout, Responded: p.responded.Load(), Gone: gone}
	hooks := c.hooks
	c.mu.Unlock()

	var fault Fault
	if hooks.Call != nil {
		fault = hooks.Call(call)
	}
	if fault.Delay > 0 && !c.sleep(fault.Delay) {
		return
	}
	if fault.Exception != nil {
		_ = p.Write(Exception(r.ID, fault.Exception))
		return
	}
	if fault.Skip {
		return
	}
	x := execution{c: c, s: s, call: call, hooks: hooks}
	param, cells, e := x.run(r)
	response := Response(r.ID, param, cells)
	if e != nil {
		response = Exception(r.ID, e)
	}
	if fault.Executed != nil {
		fault.Executed()
	}
	if fault.Hold != nil && !c.wait(fault.Hold) {
		return
	}
	switch {
	case fault.Drop:
		return
	case fault.Close:
		p.Close()
		return
	case fault.Cut > 0:
		_ = p.Write(response[:min(fault.Cut, len(response))])
		p.Close()
		return
	case fault.Twice:
		_ = p.Write(response)
	}
	_ = p.Write(response) // a client that has gone needs no response
}

// wait waits for ch. It returns false if the test ends first.
func (c *Cluster) wait(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	case <-c.stop:
		return false
	}
}

func (c *Cluster) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.stop:
		return false
	}
}

// An execution is one running call.
type execution struct {
	c     *Cluster
	s     *server
	call  Call
	hooks Hooks
}

// run executes a request.
func (x *execution) run(r Request) (param, cells []byte, e *wire.ServerError) {
	f, err := fieldsOf(r.Param)
	if err != nil {
		return nil, nil, malformed(err)
	}
	switch r.Method {
	case "Get":
		return x.get(f)
	case "Multi":
		return x.multi(f, r.Cells)
	case "Scan":
		return x.scan(f)
	}
	if do := x.bulkCall(r.Method); do != nil {
		param, e = do(f)
	} else if x.s.index < 0 {
		param, e = x.master(r.Method, f)
	} else {
		param, e = x.clientMeta(r.Method)
	}
	return param, nil, e
}

func malformed(err error) *wire.ServerError {
	return exception("DoNotRetryIOException", "malformed request: %v", err)
}
