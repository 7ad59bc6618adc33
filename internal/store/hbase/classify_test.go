package hbase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

const pkg = "org.apache.hadoop.hbase."

func TestJudgeGoesByTheClass(t *testing.T) {
	for _, c := range []struct {
		class, message string
		doNotRetry     bool
		want           remedy
		kind           error
	}{
		{class: pkg + "NotServingRegionException", want: relocate},
		{class: pkg + "regionserver.WrongRegionException", want: relocate},
		{class: "java.io.IOException", message: "log is closed", want: relocate},
		{class: pkg + "exceptions.RegionOpeningException", want: pause},
		{class: pkg + "RegionTooBusyException", want: ease},
		{class: pkg + "CallQueueTooBigException", want: ease},
		{class: pkg + "CallDroppedException", want: ease},
		{class: pkg + "MultiActionResultTooLarge", want: divide},
		{class: pkg + "RetryImmediatelyException", want: divide},
		{class: "java.io.IOException", message: "Rejecting large batch operation for current batch with firstRegionName: x", want: divide},
		{class: pkg + "regionserver.RegionServerStoppedException", doNotRetry: true, want: reconnect},
		{class: pkg + "regionserver.RegionServerAbortedException", want: reconnect},
		{class: pkg + "ipc.ServerNotRunningYetException", want: reconnect},
		{class: pkg + "PleaseHoldException", want: reconnect},
		{class: pkg + "UnknownScannerException", doNotRetry: true, want: reopen},
		{class: pkg + "exceptions.OutOfOrderScannerNextException", doNotRetry: true, want: reopen},
		{class: pkg + "exceptions.ScannerResetException", doNotRetry: true, want: reopen},
		{class: pkg + "regionserver.LeaseException", doNotRetry: true, want: reopen},
		{class: pkg + "exceptions.FailedSanityCheckException", doNotRetry: true, want: check},
		{class: pkg + "regionserver.NoSuchColumnFamilyException", doNotRetry: true, want: giveUp, kind: ErrNoFamily},
		{class: pkg + "TableNotFoundException", want: giveUp, kind: ErrNoTable},
		{class: pkg + "TableNotEnabledException", want: giveUp, kind: ErrDisabled},
		{class: pkg + "TableExistsException", want: giveUp, kind: ErrTableExists},
		{class: pkg + "security.AccessDeniedException", want: ask, kind: ErrPermission},
		{class: pkg + "DoNotRetryIOException", want: giveUp},
		{class: "java.io.FileNotFoundException", want: giveUp},
		{class: pkg + "client.WrongRowIOException", want: giveUp},
		{class: "java.io.IOException", message: "Row length is 0", want: giveUp},
		{class: "java.lang.NullPointerException", want: giveUp},
		{class: "com.example.NewException", doNotRetry: true, want: giveUp},
		{class: "com.example.NewException", want: repeat},
		{class: "java.io.IOException", message: "disk on fire", want: repeat},
	} {
		err := fmt.Errorf("a call: %w", &rpc.ServerError{Class: c.class, Message: c.message, DoNotRetry: c.doNotRetry})
		v := judge(err)
		if v.remedy != c.want {
			t.Errorf("%s %q: remedy %d, want %d", c.class, c.message, v.remedy, c.want)
		}
		if c.kind != nil && !errors.Is(v.err, c.kind) {
			t.Errorf("%s: %v is not %v", c.class, v.err, c.kind)
		}
		if !errors.Is(v.err, err) {
			t.Errorf("%s: %v has lost its cause", c.class, v.err)
		}
	}
}

func TestJudgeWithoutAnException(t *testing.T) {
	lostCall := &rpc.CallError{Method: "Multi", Addr: "h:1", Sent: true, Err: &rpc.ConnError{Addr: "h:1", Err: io.EOF}}
	for name, c := range map[string]struct {
		err  error
		want remedy
	}{
		"connection lost":       {lostCall, lost},
		"refused by the header": {&rpc.ConnError{Addr: "h:1", Err: rpc.ErrRefused}, repeat},
		"fatal for the connection": {&rpc.ConnError{Addr: "h:1", Err: &rpc.ServerError{
			Class: pkg + "ipc.FatalConnectionException"}}, giveUp},
		"no connection":      {&rpc.DialError{Addr: "h:1", Err: io.ErrUnexpectedEOF}, lost},
		"no such host":       {&rpc.DialError{Addr: "h:1", Err: &net.DNSError{Name: "h", IsNotFound: true}}, giveUp},
		"own timer":          {&rpc.CallError{Method: "Get", Addr: "h:1", Sent: true, Err: context.DeadlineExceeded}, lost},
		"malformed":          {&rpc.CallError{Method: "Get", Addr: "h:1", Sent: true, Err: fmt.Errorf("x: %w", wire.ErrMalformed)}, repeat},
		"nowhere":            {errNotOnline, relocate},
		"registry":           {fmt.Errorf("ZooKeeper: %w", ErrUnavailable), pause},
		"overloaded server":  {&rpc.ServerError{Class: "com.example.New", Overloaded: true, DoNotRetry: true}, ease},
		"unknown to us, new": {errors.New("what"), repeat},
	} {
		if v := judge(c.err); v.remedy != c.want {
			t.Errorf("%s: remedy %d, want %d", name, v.remedy, c.want)
		}
	}
	if v := judge(&rpc.DialError{Addr: "rs9:1", Err: &net.DNSError{Name: "rs9", IsNotFound: true}}); !errors.Is(v.err, ErrUnknownHost) {
		t.Errorf("%v is not %v", v.err, ErrUnknownHost)
	}
}

func TestAMoveNamesTheServerAndTheOpening(t *testing.T) {
	v := judge(&rpc.ServerError{
		Class: pkg + "exceptions.RegionMovedException", Host: "rs2", Port: 16020,
		Message: "Region moved to: hostname=rs2 port=16020 startCode=17. As of locationSeqNum=42.",
	})
	if v.remedy != relocate || v.addr != "rs2:16020" || v.seq != 42 {
		t.Errorf("got %+v; want rs2:16020 as of 42", v)
	}
}

func TestThrottleWait(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"number of requests exceeded - wait 1sec, 20ms":          1020 * time.Millisecond,
		"read size limit exceeded - wait 1hrs, 2mins, 3sec, 4ms": time.Hour + 2*time.Minute + 3*time.Second + 4*time.Millisecond,
		"wait 500ms":                500 * time.Millisecond,
		"wait 10 ms":                minBackoff, // never less than an ordinary pause
		"no hint at all":            minBackoff,
		"wait for Godot":            minBackoff,
		"wait 99999999999999999sec": minBackoff,
	} {
		if got := throttleWait(message); got != want {
			t.Errorf("%q: %s, want %s", message, got, want)
		}
	}
}
