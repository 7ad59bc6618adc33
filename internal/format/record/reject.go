package record

import "fmt"

// A Reason is the reason why a record is bad. It is also the name of the record's counter.
type Reason string

// The reasons.
const (
	TooLong     Reason = "too long"           // a line of more than Format.MaxLine bytes
	BadQuote    Reason = "bad quote"          // a quote that is not closed, or where none is allowed
	NotUTF8     Reason = "not UTF-8"          // or not in the file's encoding
	BadJSON     Reason = "bad json"           // not a JSON object
	WrongWidth  Reason = "wrong width"        // more or fewer columns than names
	NoKind      Reason = "no behaviour"       // the column that names the behaviour is empty
	NoUser      Reason = "no user"            // no text, or the pattern does not match
	UserTooLong Reason = "user too long"      // more than behaviour.MaxUserLen bytes
	NoTime      Reason = "no time"            // no text, or the pattern does not match
	BadTime     Reason = "bad time"           // not in the format of the job
	Implausible Reason = "implausible time"   // before Time.Earliest or after Time.Latest
	OutsideDay  Reason = "outside its day"    // further than Format.Slack from the path's date
	BadSkip     Reason = "bad skip condition" // Format.Skip cannot be evaluated for it
	WrongType   Reason = "wrong type"         // a field's text is not a value of its type
)

// Reasons lists all reasons, in the order in which a record is checked.
var Reasons = []Reason{
	TooLong, BadQuote, NotUTF8, BadJSON, WrongWidth, BadSkip, NoKind, NoUser, UserTooLong, NoTime, BadTime, Implausible, OutsideDay, WrongType,
}

// MaxRaw is the number of bytes that are kept of a line that is too long. Other bad records
// are kept whole.
const MaxRaw = 4096

// A Reject is a record that could not become a behaviour. The records after it are not
// affected.
type Reject struct {
	Path   string
	Kind   int   // of the schema; -1 if the record is bad before its behaviour is known
	Line   int64 // the physical line that it begins in, from 1
	Offset int64 // of its first byte in the file's text
	Reason Reason
	Err    error  // what was wrong with it; never nil
	Raw    []byte // the record without its line end; if it is too long, the beginning
	Cut    bool   // Raw is not the whole record
}

func (r *Reject) Error() string {
	return fmt.Sprintf("record: %s:%d: %s: %v (offset %d)", r.Path, r.Line, r.Reason, r.Err, r.Offset)
}

func (r *Reject) Unwrap() error { return r.Err }
