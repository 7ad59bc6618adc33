package hbase

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// A remedy is the action that solves a failure.
type remedy int

const (
	giveUp    remedy = iota // no action solves it
	relocate                // the region is elsewhere: look it up, at first without a pause
	check                   // the same, but only once: the second failure is the client's mistake
	pause                   // the same server a little later
	ease                    // the same, and with fewer calls at once
	divide                  // not executed: at once, in a smaller batch
	reconnect               // the server stops: close its connection, look up its regions
	reopen                  // the scanner is lost, the region is not
	lost                    // no response: it may have been executed
	ask                     // the server may be replacing its copy of the rights: the same server a little later, twice
	repeat                  // unknown failure: retry a few times
)

// maxRepeats is the number of failed attempts with the remedy repeat after which
// retries end.
const maxRepeats = 5

// maxAsks is the number of retries after a denial. Whenever the rights of a table change, servers
// read the rights of all tables again. Before HBASE-28984 they emptied their copy first, so that
// for a moment they denied what is allowed.
const maxAsks = 2

// mayPass reports whether failures with the remedy may pass with time alone.
func (r remedy) mayPass() bool { return r != giveUp && r != check && r != ask && r != repeat }

// A verdict is the classification of a failure.
type verdict struct {
	remedy remedy
	err    error         // satisfies this package's errors
	wait   time.Duration // at least, if the server demands it
	// throttled means that a quota is used up. wait is the time until it is not.
	throttled bool
	addr      string // the server that has the region now, by the exception
	seq       int64  // the opening since which addr has the region
}

// name returns the exception's name without its package. If the failure is no
// exception, name returns the error's text.
func (v verdict) name() string {
	if e, ok := errors.AsType[*rpc.ServerError](v.err); ok {
		return e.Name()
	}
	return v.err.Error()
}

// errNotOnline is the failure of a row whose region meta does not have, or has
// without a server: it is being split, merged, moved or recovered.
var errNotOnline = errors.New("no server has the region at the moment")

// errMissing is the failure of an action that a Multi's response does not contain.
var errMissing = errors.New("the response does not contain the action")

// judge returns the verdict on err.
func judge(err error) verdict {
	var server *rpc.ServerError
	var conn *rpc.ConnError
	var dial *rpc.DialError
	var dns *net.DNSError
	security, secured := judgeSecurity(err)
	switch {
	case secured:
		return security
	case errors.Is(err, errNotOnline):
		return verdict{remedy: relocate, err: err}
	case errors.Is(err, ErrUnavailable):
		return verdict{remedy: pause, err: err}
	case errors.Is(err, ErrClosed), errors.Is(err, ErrHidden), errors.Is(err, context.Canceled), errors.Is(err, ErrNoTable), errors.Is(err, ErrDisabled):
		return verdict{remedy: giveUp, err: err}
	case errors.Is(err, wire.ErrMalformed):
		return verdict{remedy: repeat, err: err}
	case errors.As(err, &dns) && dns.IsNotFound:
		return verdict{remedy: giveUp, err: ofKind(ErrUnknownHost, err)}
	case errors.As(err, &dial):
		return verdict{remedy: lost, err: err}
	case errors.As(err, &conn):
		if errors.Is(err, rpc.ErrRefused) {
			return verdict{remedy: repeat, err: err}
		}
		if errors.As(err, &server) && isFatalConnection(server.Name()) {
			return verdict{remedy: giveUp, err: err}
		}
		return verdict{remedy: lost, err: err}
	case errors.As(err, &server):
		return judgeServer(server, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, rpc.ErrUnknownOutcome):
		return verdict{remedy: lost, err: err}
	}
	return verdict{remedy: repeat, err: err}
}

func isFatalConnection(name string) bool {
	switch name {
	case "FatalConnectionException", "WrongVersionException", "BadAuthException", "AccessDeniedException",
		"UnsupportedCellCodecException", "UnsupportedCompressionCodecException", "UnsupportedCryptoException":
		return true
	}
	return false
}

// judgeServer decides by the name of the class. Servers set do_not_retry on many
// exceptions that a retry solves, and omit it on exceptions that no retry solves.
// Therefore do_not_retry counts only for names that are not listed.
func judgeServer(e *rpc.ServerError, err error) verdict {
	v := verdict{err: err}
	switch e.Name() {
	case "NotServingRegionException", "WrongRegionException":
		v.remedy = relocate
	case "RegionMovedException":
		v.remedy = relocate
		if e.Host != "" {
			v.addr = net.JoinHostPort(e.Host, strconv.Itoa(e.Port))
			v.seq = locationSeqNum(e.Message)
		}
	case "FailedSanityCheckException":
		v.remedy = check
	case "RegionOpeningException":
		v.remedy = pause
	case "RegionTooBusyException", "CallQueueTooBigException", "CallDroppedException":
		v.remedy = ease
	case "RpcThrottlingException":
		v.remedy, v.wait, v.throttled = ease, throttleWait(e.Message), true
	case "MultiActionResultTooLarge", "RetryImmediatelyException":
		v.remedy = divide
	case "RegionServerStoppedException", "RegionServerAbortedException", "ServerNotRunningYetException",
		"PleaseHoldException", "MasterStoppedException", "MasterNotRunningException", "NotActiveMasterException":
		v.remedy = reconnect
	case "UnknownScannerException", "OutOfOrderScannerNextException", "ScannerResetException", "LeaseException":
		v.remedy = reopen
	case "NoSuchColumnFamilyException":
		v.err = ofKind(ErrNoFamily, err)
	case "TableNotFoundException":
		v.err = ofKind(ErrNoTable, err)
	case "TableNotEnabledException":
		v.err = ofKind(ErrDisabled, err)
	case "TableExistsException":
		v.err = ofKind(ErrTableExists, err)
	case "SnapshotExistsException":
		v.err = ofKind(ErrSnapshotExists, err)
	case "SnapshotDoesNotExistException":
		v.err = ofKind(ErrNoSnapshot, err)
	case "AccessDeniedException":
		v.remedy, v.err = ask, ofKind(ErrPermission, err)
	case "DoNotRetryIOException":
		if strings.Contains(e.Message, "region is read only") {
			v.err = ofKind(ErrReadOnly, err)
		}
	case "RequestTooBigException", "RowTooBigException", "QuotaExceededException", "SpaceLimitingException",
		"CorruptHFileException", "FileNotFoundException",
		"WrongRowIOException", "InvalidProtocolBufferException", "UninitializedMessageException", "NullPointerException",
		"FatalConnectionException", "WrongVersionException", "BadAuthException":
	case "IOException":
		v.remedy = plainIOException(e)
	default:
		if !e.DoNotRetry {
			v.remedy = repeat
		}
	}
	if e.Overloaded && v.remedy != divide {
		v.remedy = ease
	}
	return v
}

// plainIOException decides by the text, because there is no specific class.
func plainIOException(e *rpc.ServerError) remedy {
	switch {
	case strings.Contains(e.Message, "log is closed"):
		return relocate
	case strings.Contains(e.Message, "Rejecting large batch operation"):
		return divide
	case strings.Contains(e.Message, "Row length"), e.DoNotRetry:
		return giveUp
	}
	return repeat
}

// ofKind returns an error that satisfies kind and err and has the text of both.
func ofKind(kind, err error) error { return kinded{kind, err} }

type kinded struct{ kind, err error }

func (k kinded) Error() string   { return k.kind.Error() + ": " + k.err.Error() }
func (k kinded) Unwrap() []error { return []error{k.kind, k.err} }

// locationSeqNum reads "As of locationSeqNum=N." in a RegionMovedException.
func locationSeqNum(message string) int64 {
	_, after, _ := strings.Cut(message, "locationSeqNum=")
	digits := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	if digits >= 0 {
		after = after[:digits]
	}
	n, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// throttleWait reads the time that an RpcThrottlingException asks to wait, such as
// "... - wait 1mins, 1sec, 20ms". Source: RpcThrottlingException.stringFromMillis.
func throttleWait(message string) time.Duration {
	i := strings.LastIndex(message, "wait ")
	if i < 0 {
		return minBackoff
	}
	var sum time.Duration
	for part := range strings.SplitSeq(message[i+len("wait "):], ",") {
		part = strings.TrimSpace(part)
		digits := 0
		for digits < len(part) && part[digits] >= '0' && part[digits] <= '9' {
			digits++
		}
		n, err := strconv.ParseInt(part[:digits], 10, 32)
		if err != nil {
			break
		}
		unit, ok := map[string]time.Duration{"hrs": time.Hour, "mins": time.Minute, "sec": time.Second, "ms": time.Millisecond}[strings.TrimSpace(part[digits:])]
		if !ok {
			break
		}
		sum += time.Duration(n) * unit
	}
	return max(sum, minBackoff)
}
