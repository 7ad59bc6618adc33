package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// enough is longer than any operation here needs, unless it hangs.
const enough = 10 * time.Minute

// serve runs a server that calls handle for each connection, and returns its address. It ends
// with the test.
func serve(t *testing.T, handle func(*hbasetest.Peer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, handle)
}

// serveInMemory is serve without sockets, for tests in a bubble of synctest.
func serveInMemory(t *testing.T, handle func(*hbasetest.Peer)) *hbasetest.Listener {
	t.Helper()
	l := hbasetest.NewListener(16020)
	serveOn(t, l, handle)
	return l
}

// dialInMemory connects to such a server.
func dialInMemory(t *testing.T, l *hbasetest.Listener, o rpc.Options) *rpc.Conn {
	t.Helper()
	o.Dial = l.Dial
	return dial(t, l.Addr().String(), o)
}

func serveOn(t *testing.T, l net.Listener, handle func(*hbasetest.Peer)) string {
	t.Helper()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer nc.Close()
				p, err := hbasetest.Accept(nc)
				if err != nil {
					t.Errorf("the server was greeted with %v", err)
					return
				}
				handle(p)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

func dial(t *testing.T, addr string, o rpc.Options) *rpc.Conn {
	t.Helper()
	c, err := rpc.Dial(t.Context(), addr, wire.ClientService, "trail", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// echo responds to each request with its own parameter and cells.
func echo(p *hbasetest.Peer) {
	for {
		r, err := p.Read()
		if err != nil {
			return
		}
		if p.Write(hbasetest.Response(r.ID, r.Param, r.Cells)) != nil {
			return
		}
	}
}

// bubble runs a part of t in which time passes at once while all goroutines wait for it.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// within returns a context that limits the test's wait, not the operation under test.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// call expects an echo.
func call(ctx context.Context, c *rpc.Conn, param, cells []byte) error {
	var block wire.Appender
	if cells != nil {
		block = wire.Raw(cells)
	}
	r, err := c.Call(ctx, "Multi", wire.Raw(param), block)
	if err != nil {
		return err
	}
	defer r.Release()
	if !bytes.Equal(r.Param, param) || !bytes.Equal(r.Cells, cells) {
		return fmt.Errorf("got %q with cells %q, want %q with %q", r.Param, r.Cells, param, cells)
	}
	return nil
}

// golden are the bytes between HBase 2.6.1 and a client of ours.
const (
	goldenPreamble = "4842617300500000005c0a070a05747261696c120d436c69656e74536572766963651a2b6f72672e6170616368652e6861646f6f702e68626173652e636f6465632e4b657956616c7565436f6465632a150a05322e362e3012001a0022002a00320038024006"
	goldenGet      = "000000500908011a034765742001450a3608011232742c2c313739353232363837333539312e34393165366364646634356339306133383561626466633062326136653431622e120b0a02313012030a01663800"
	goldenResponse = "000000550608011a020847060a04100220000000001d0000001400000001000231300166706167653100000000000003e80461000000220000001900000001000231300166706167655f75726c303200000000000003e80462"
	goldenRegion   = "t,,1795226873591.491e6cddf45c90a385abdfc0b2a6e41b."
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenConversation(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan []byte, 1)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(enough))
		// The golden call has ID 1. Our IDs begin at 0, so the first response only advances the
		// ID.
		first := make([]byte, len(goldenPreamble)/2+15)
		if _, err := io.ReadFull(nc, first); err != nil {
			t.Errorf("preamble and first call: %v", err)
			return
		}
		nc.Write(hbasetest.Response(0, nil, nil))
		second := make([]byte, len(goldenGet)/2)
		if _, err := io.ReadFull(nc, second); err != nil {
			t.Errorf("second call: %v", err)
			return
		}
		nc.Write(unhex(t, goldenResponse))
		heard <- append(first[:len(goldenPreamble)/2], second...)
	}()

	c := dial(t, l.Addr().String(), rpc.Options{})
	if _, err := c.Call(t.Context(), "Get", wire.Raw(nil), nil); err != nil {
		t.Fatal(err)
	}
	get := wire.Get{Columns: []wire.Column{{Family: []byte("f")}}}
	r, err := c.Call(t.Context(), "Get", &wire.GetRequest{Region: []byte(goldenRegion), Row: []byte("10"), Fields: get.Fields()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if got := hex.EncodeToString(<-heard); got != goldenPreamble+goldenGet {
		t.Errorf("said\n%s, want\n%s", got, goldenPreamble+goldenGet)
	}
	res, err := wire.DecodeGet(r.Param, r.Cells)
	if err != nil || res.Cells.Len() != 2 {
		t.Errorf("heard %d cells, %v; want 2", res.Cells.Len(), err)
	}
}

// TestFramesOfManyCallersStayWhole uses one connection to which many goroutines write. The
// responses have another order than the calls.
func TestFramesOfManyCallersStayWhole(t *testing.T) {
	addr := serve(t, func(p *hbasetest.Peer) {
		var responses sync.WaitGroup
		defer responses.Wait()
		for {
			r, err := p.Read()
			if err != nil {
				return
			}
			responses.Go(func() { _ = p.Write(hbasetest.Response(r.ID, r.Param, r.Cells)) })
		}
	})
	c := dial(t, addr, rpc.Options{})
	ctx := within(t, enough)
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(1, uint64(g)))
			for i := range 20 {
				param := bytes.Repeat(fmt.Appendf(nil, "%d/%d,", g, i), 1+dice.IntN(1000))
				var cells []byte
				if dice.IntN(2) == 0 {
					cells = bytes.Repeat([]byte{byte(g)}, 1+dice.IntN(50000))
				}
				if err := call(ctx, c, param, cells); err != nil {
					t.Errorf("call %d of goroutine %d: %v", i, g, err)
					return
				}
			}
		})
	}
	all.Wait()
	if n := c.Pending(); n != 0 {
		t.Errorf("%d calls are pending after the last response", n)
	}
}

// TestLateResponseGoesNowhere responds to a call after it has timed out, before and after the
// response to a newer call.
func TestLateResponseGoesNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := serveInMemory(t, func(p *hbasetest.Peer) {
			late, err := p.Read()
			if err != nil {
				return
			}
			for range 2 {
				r, err := p.Read()
				if err != nil {
					return
				}
				if r.ID == late.ID {
					t.Error("an ID was used twice")
				}
				p.Write(hbasetest.Response(late.ID, []byte("late"), nil))
				p.Write(hbasetest.Response(r.ID, r.Param, nil))
				p.Write(hbasetest.Response(r.ID, []byte("twice"), nil))
				p.Write(hbasetest.Response(987654321, []byte("never asked"), nil))
			}
			echo(p)
		})
		c := dialInMemory(t, l, rpc.Options{})
		err := call(within(t, 20*time.Millisecond), c, []byte("slow"), nil)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, rpc.ErrUnknownOutcome) {
			t.Fatalf("got %v, want the deadline and an unknown outcome", err)
		}
		for i := range 4 {
			if err := call(within(t, enough), c, fmt.Appendf(nil, "new %d", i), nil); err != nil {
				t.Errorf("call %d after it: %v", i, err)
			}
		}
		if c.Err() != nil {
			t.Errorf("the connection was given up: %v", c.Err())
		}
	})
}

// TestTimeOfOneCallIsNotTheOthers responds to one call in eight. The others time out on the same
// connection.
func TestTimeOfOneCallIsNotTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := serveInMemory(t, func(p *hbasetest.Peer) {
			for {
				r, err := p.Read()
				if err != nil {
					return
				}
				if string(r.Param) != "drop" {
					<-release
					p.Write(hbasetest.Response(r.ID, r.Param, nil))
					echo(p)
					return
				}
				if r.Timeout == 0 || r.Timeout > 30 {
					t.Errorf("a call with 30 ms left was sent with a timeout of %d ms", r.Timeout)
				}
			}
		})
		c := dialInMemory(t, l, rpc.Options{})
		var all sync.WaitGroup
		for range 7 {
			all.Go(func() {
				if err := call(within(t, 30*time.Millisecond), c, []byte("drop"), nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the deadline", err)
				}
			})
		}
		all.Wait()
		kept := make(chan error)
		go func() { kept <- call(within(t, enough), c, []byte("keep"), nil) }()
		close(release)
		if err := <-kept; err != nil {
			t.Errorf("the call with time: %v", err)
		}
	})
}

func TestServersWordForIt(t *testing.T) {
	addr := serve(t, func(p *hbasetest.Peer) {
		for {
			r, err := p.Read()
			if err != nil {
				return
			}
			p.Write(hbasetest.Exception(r.ID, &wire.ServerError{
				Class: "org.apache.hadoop.hbase.exceptions.RegionMovedException", Message: "Region moved to: hostname=b port=2 startCode=3. As of locationSeqNum=4.",
				Host: "h", Port: 16020, DoNotRetry: true, Overloaded: true,
			}))
		}
	})
	c := dial(t, addr, rpc.Options{})
	_, err := c.Call(within(t, enough), "Get", wire.Raw("x"), nil)
	var e *rpc.ServerError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a ServerError", err)
	}
	want := rpc.ServerError{
		Class: "org.apache.hadoop.hbase.exceptions.RegionMovedException", Message: "Region moved to: hostname=b port=2 startCode=3. As of locationSeqNum=4.",
		Host: "h", Port: 16020, DoNotRetry: true, Overloaded: true,
	}
	if *e != want {
		t.Errorf("got %+v, want %+v", *e, want)
	}
	if e.Name() != "RegionMovedException" || errors.Is(err, rpc.ErrUnknownOutcome) || c.Err() != nil {
		t.Errorf("an exception is an outcome and leaves the connection alone; got %v, connection %v", err, c.Err())
	}
}

// outcomes makes n calls at once and returns their n outcomes.
func outcomes(t *testing.T, c *rpc.Conn, n int) []error {
	t.Helper()
	ctx := within(t, enough)
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- call(ctx, c, fmt.Appendf(nil, "call %d", i), nil) }()
	}
	var all []error
	for range n {
		all = append(all, <-errs)
	}
	return all
}

// TestEndOfConnection ends the connection in every way while calls wait.
func TestEndOfConnection(t *testing.T) {
	fatal := &wire.ServerError{Class: "org.apache.hadoop.hbase.ipc.FatalConnectionException", Message: "no"}
	header := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for _, tt := range []struct {
		name string
		end  func(*hbasetest.Peer)
		want error
		text string
	}{
		{"at once", func(p *hbasetest.Peer) {}, rpc.ErrRefused, "does not offer"},
		{"after a response", func(p *hbasetest.Peer) { p.Write(hbasetest.Response(1<<30, nil, nil)) }, io.EOF, "closed by the server"},
		{"within a length", func(p *hbasetest.Peer) { p.Write([]byte{0, 0}) }, io.ErrUnexpectedEOF, ""},
		{"within a frame", func(p *hbasetest.Peer) { p.Write(append(header(100), "only this"...)) }, io.ErrUnexpectedEOF, "response of 100 bytes"},
		{"with a reason", func(p *hbasetest.Peer) { p.Write(hbasetest.Exception(wire.ConnectionCallID, fatal)) }, fatal, "FatalConnectionException: no"},
		{"with a frame too large", func(p *hbasetest.Peer) { p.Write(header(1<<20 + 1)) }, nil, "response of 1048577 bytes: must be 1 to 1048576"},
		{"with a negative length", func(p *hbasetest.Peer) { p.Write(header(0xffffffa8)) }, nil, "response of -88 bytes"},
		{"with a frame that is none", func(p *hbasetest.Peer) { p.Write(append(header(2), 0x7f, 0)) }, wire.ErrMalformed, ""},
		{"with a header without call", func(p *hbasetest.Peer) { p.Write(append(header(1), 0)) }, wire.ErrMalformed, "call ID missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const n = 8
			addr := serve(t, func(p *hbasetest.Peer) {
				for range n {
					if _, err := p.Read(); err != nil {
						t.Errorf("read a call: %v", err)
					}
				}
				tt.end(p)
			})
			c := dial(t, addr, rpc.Options{MaxFrame: 1 << 20})
			for _, err := range outcomes(t, c, n) {
				var conn *rpc.ConnError
				if !errors.As(err, &conn) || conn.Addr != addr {
					t.Fatalf("got %v, want a ConnError of %s", err, addr)
				}
				if !errors.Is(err, rpc.ErrUnknownOutcome) {
					t.Errorf("%v: the outcome should be unknown", err)
				}
				var said *rpc.ServerError
				if e, ok := tt.want.(*wire.ServerError); ok {
					if !errors.As(err, &said) || *said != *e {
						t.Errorf("got %v, want %v", err, e)
					}
				} else if tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %q, want %q in it", err, tt.text)
				}
			}
			<-c.Done()
			err := call(t.Context(), c, nil, nil)
			if conn := (*rpc.ConnError)(nil); !errors.As(err, &conn) || errors.Is(err, rpc.ErrUnknownOutcome) {
				t.Errorf("a call on a closed connection got %v, want a ConnError with nothing sent", err)
			}
		})
	}
}

func TestCloseFailsWhatWaits(t *testing.T) {
	arrived := make(chan struct{})
	addr := serve(t, func(p *hbasetest.Peer) {
		for range 5 {
			if _, err := p.Read(); err != nil {
				return
			}
		}
		close(arrived)
		p.Read() // until the client is gone
	})
	c := dial(t, addr, rpc.Options{})
	go func() {
		<-arrived
		c.Close()
		c.Close()
	}()
	for _, err := range outcomes(t, c, 5) {
		if !errors.Is(err, rpc.ErrClosed) || !errors.Is(err, rpc.ErrUnknownOutcome) {
			t.Errorf("got %v, want closed and an unknown outcome", err)
		}
	}
}

// TestSilence checks that a silent server is abandoned. A server that sends anything is not,
// and neither is a server without waiting calls.
func TestSilence(t *testing.T) {
	const silence = time.Second
	bubble(t, "nothing arrives", func(t *testing.T) {
		l := serveInMemory(t, func(p *hbasetest.Peer) {
			for {
				if _, err := p.Read(); err != nil {
					return
				}
			}
		})
		c := dialInMemory(t, l, rpc.Options{Silence: silence})
		for _, err := range outcomes(t, c, 3) {
			if !errors.Is(err, rpc.ErrSilent) || !errors.Is(err, rpc.ErrUnknownOutcome) {
				t.Errorf("got %v, want silence and an unknown outcome", err)
			}
		}
	})
	bubble(t, "bytes arrive", func(t *testing.T) {
		l := serveInMemory(t, func(p *hbasetest.Peer) {
			r, err := p.Read()
			if err != nil {
				return
			}
			// One response takes several times the silence limit, byte by byte, after others'
			// responses.
			for _, b := range append(hbasetest.Response(1<<30, nil, nil), hbasetest.Response(r.ID, r.Param, nil)...) {
				time.Sleep(silence - 1)
				p.Write([]byte{b})
			}
			echo(p)
		})
		c := dialInMemory(t, l, rpc.Options{Silence: silence})
		if err := call(within(t, enough), c, []byte("patience"), nil); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "nobody waits", func(t *testing.T) {
		c := dialInMemory(t, serveInMemory(t, echo), rpc.Options{Silence: silence})
		for range 2 {
			if err := call(within(t, enough), c, []byte("hello"), nil); err != nil {
				t.Fatal(err)
			}
			select {
			case <-c.Done():
				t.Fatalf("an idle connection was given up: %v", c.Err())
			case <-time.After(3 * silence):
			}
		}
	})
}

// TestAClockThatIsSetIsNoSilence looks for the reading of the steady clock in the time at which
// bytes arrived: without it the silence of a server would be as long as the clock was set. Times
// in a synctest bubble have no such reading.
func TestAClockThatIsSetIsNoSilence(t *testing.T) {
	c := dialInMemory(t, serveInMemory(t, echo), rpc.Options{})
	check := func(when string) {
		t.Helper()
		if at := c.Heard(); at == at.Round(0) {
			t.Errorf("%s: the server was heard at %s, a time of the wall clock alone", when, at)
		}
	}
	check("after the connection")
	if err := call(within(t, enough), c, []byte("hello"), nil); err != nil {
		t.Fatal(err)
	}
	check("after a response")
}

// TestServerThatDoesNotRead has a call larger than any socket buffer. After its first byte is
// sent, the call cannot be withdrawn, and a call behind it was never sent.
func TestServerThatDoesNotRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	begun := make(chan net.Conn, 1)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		io.CopyN(io.Discard, nc, int64(len(goldenPreamble)/2+1))
		begun <- nc
	}()
	c := dial(t, l.Addr().String(), rpc.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan error, 1)
	go func() { first <- call(ctx, c, make([]byte, 16<<20), nil) }()
	defer (<-begun).Close()
	if err := call(within(t, 20*time.Millisecond), c, []byte("behind"), nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, rpc.ErrUnknownOutcome) {
		t.Errorf("the call behind got %v, want the deadline with nothing sent", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) || !errors.Is(err, rpc.ErrUnknownOutcome) {
		t.Errorf("the call that hangs got %v, want cancelled and an unknown outcome", err)
	}
}

func TestCancelledBeforeItIsSent(t *testing.T) {
	c := dial(t, serve(t, echo), rpc.Options{})
	why := errors.New("somebody else failed")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	err := call(ctx, c, []byte("x"), nil)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, why) || errors.Is(err, rpc.ErrUnknownOutcome) {
		t.Errorf("got %v, want cancelled with its cause and nothing sent", err)
	}
}

func TestDialErrors(t *testing.T) {
	const addr = "127.0.0.1:1" // nobody listens there
	_, err := rpc.Dial(t.Context(), addr, wire.ClientService, "trail", rpc.Options{})
	var e *rpc.DialError
	if !errors.As(err, &e) || e.Addr != addr {
		t.Errorf("got %v, want a DialError of %s", err, addr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rpc.Dial(ctx, addr, wire.ClientService, "trail", rpc.Options{}); !errors.As(err, &e) {
		t.Errorf("cancelled: got %v, want a DialError", err)
	}
}

// TestMalformedResponseFailsItsCallAlone uses a complete frame with a valid call ID.
func TestMalformedResponseFailsItsCallAlone(t *testing.T) {
	addr := serve(t, func(p *hbasetest.Peer) {
		r, err := p.Read()
		if err != nil {
			return
		}
		good := hbasetest.Response(r.ID, []byte("p"), []byte("cells"))
		good[4+1+2+2+1+1]++ // one more byte of cells
		p.Write(good)
		echo(p)
	})
	c := dial(t, addr, rpc.Options{})
	if err := call(within(t, enough), c, []byte("p"), []byte("cells")); !errors.Is(err, wire.ErrMalformed) || !errors.Is(err, rpc.ErrUnknownOutcome) {
		t.Errorf("got %v, want malformed and an unknown outcome", err)
	}
	if err := call(within(t, enough), c, []byte("next"), nil); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestReleaseTwice(t *testing.T) {
	c := dial(t, serve(t, echo), rpc.Options{})
	r, err := c.Call(within(t, enough), "Get", wire.Raw("once"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Release()
	r.Release()
	if r.Param != nil {
		t.Error("a released response still has its bytes")
	}
	var all sync.WaitGroup
	for i := range 8 { // two of them would share the buffer if it was released twice
		all.Go(func() {
			if err := call(within(t, enough), c, fmt.Appendf(nil, "after %d", i), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
