package hbasetest

import (
	"time"

	"usertrail/internal/hbase/wire"
)

// Hooks say what goes wrong. They are asked without a lock held, from many
// goroutines at once; nil is nothing.
type Hooks struct {
	// Call is asked for each call before it is executed.
	Call func(Call) Fault
	// Region is asked for each region of a Get, a Multi, an opening Scan or a bulk
	// load: its exception is that of the region's part.
	Region func(c Call, region string) *wire.ServerError
	// Action is asked for each Get and Put of a Multi: its exception is that of
	// the action.
	Action func(c Call, row []byte) *wire.ServerError
}

// A Call is one request that has come in.
type Call struct {
	Server  int // -1 is the master
	Method  string
	N       int    // of the method, on all servers: 1 is the first
	Timeout uint32 // ms that the client gives it; 0 is no limit
	Actions int    // of a Multi's region, where its hook is asked

	Answered bool            // its connection has had an answer before
	Gone     <-chan struct{} // closed when its connection has ended
}

// A Fault is how a call goes wrong. The zero Fault is not at all. What is done is
// done in the order of the fields.
type Fault struct {
	Delay     time.Duration
	Exception *wire.ServerError // the answer, in place of executing
	Skip      bool              // it is not executed, and not answered
	Hold      <-chan struct{}   // executed, but the answer waits until Hold is closed
	Drop      bool              // executed, never answered
	Close     bool              // executed, and the connection closed in place of an answer
	Cut       int               // executed, the connection closed after so many bytes of the answer
	Twice     bool              // answered two times
}

// SetHooks takes hooks into use, from the next call on.
func (c *Cluster) SetHooks(h Hooks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks = h
}
