package hbase

import (
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"
)

// Errors that a caller may distinguish with errors.Is. Errors that satisfy
// ErrUnavailable may pass by themselves. All others do not.
var (
	ErrUnavailable = errors.New("not available now")
	ErrNoTable     = errors.New("no such table")
	ErrTableExists = errors.New("table exists")
	ErrNoFamily    = errors.New("no such column family")
	ErrDisabled    = errors.New("table is not enabled")
	ErrReadOnly    = errors.New("table accepts no puts")
	ErrPermission  = errors.New("permission denied")
	ErrUnknownHost = errors.New("host name does not resolve here")
	ErrInsecure    = errors.New("no secure connection")
	ErrClosed      = errors.New("client is closed")
	ErrUncertain   = errors.New("the call may have succeeded or not: the server did not respond")
	ErrHidden      = errors.New("HBase's user may not see the file")
	ErrRegionGone  = errors.New("the region is not there any more")

	ErrSnapshotExists = errors.New("snapshot exists")
	ErrNoSnapshot     = errors.New("no such snapshot")
)

// A GaveUpError ends an operation that was retried until its budget was used up. It
// satisfies ErrUnavailable if the last failure was of a kind that may pass with time.
type GaveUpError struct {
	What     string // such as "get of 3 rows from \"0042\""
	Table    string
	Region   string
	Server   string
	Attempts int
	Spent    time.Duration // from the first attempt on, without the wait for a place in the window
	MayPass  bool
	Err      error // of the last attempt
}

func (e *GaveUpError) Error() string {
	where := ""
	if e.Table != "" {
		where = ", table " + e.Table
	}
	if e.Region != "" {
		where += ", region " + e.Region
	}
	if e.Server != "" {
		where += " on " + e.Server
	}
	return fmt.Sprintf("%s%s: gave up after %s in %s: %v",
		e.What, where, english.Plural(e.Attempts, "attempt", ""), e.Spent.Round(time.Millisecond), e.Err)
}

func (e *GaveUpError) Unwrap() []error {
	if e.MayPass {
		return []error{e.Err, ErrUnavailable}
	}
	return []error{e.Err}
}
