package hbasetest

import (
	"time"

	"usertrail/internal/store/hbase/wire"
)

// Hooks select the calls that fail. Many goroutines call them at once and hold no lock. If a
// hook is nil, all calls succeed.
type Hooks struct {
	// Call is called for each call before the call is executed.
	Call func(Call) Fault
	// Region is called for each region of a Get, a Multi, an opening Scan or a bulk
	// load. Its exception is the result of the region's part.
	Region func(c Call, region string) *wire.ServerError
	// Action is called for each Get and Put of a Multi. Its exception is the result of
	// the action.
	Action func(c Call, row []byte) *wire.ServerError
}

// A Call is one request that a server has received.
type Call struct {
	Server  int // -1 is the master
	Method  string
	N       int    // of the method, on all servers: 1 is the first
	Timeout uint32 // ms that the client allows; 0 is no limit
	Actions int    // of a Multi's region, for the hook Region

	Responded bool            // its connection has had a response before
	Gone      <-chan struct{} // closed when its connection has ended
}

// A Fault describes the failure of a call. With the zero Fault the call succeeds. The fields
// apply in their order.
type Fault struct {
	Delay     time.Duration
	Exception *wire.ServerError // the response, in place of an execution
	Skip      bool              // not executed, no response
	Executed  func()            // called after the execution and before the response
	Hold      <-chan struct{}   // executed, but the response waits until Hold is closed
	Drop      bool              // executed, no response
	Close     bool              // executed, and the connection closed in place of a response
	Cut       int               // executed, then the connection is closed after this many bytes of the response
	Twice     bool              // sent two times
}

// SetHooks sets the hooks. They apply from the next call on.
func (c *Cluster) SetHooks(h Hooks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks = h
}
