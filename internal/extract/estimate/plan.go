package estimate

import (
	"encoding/json"
	"math"
)

// A Plan is a way to run a query, and its estimated cost.
type Plan struct {
	Name      string `json:"plan"`       // files, get, scan or snapshot
	DecidedBy string `json:"decided_by"` // how the active users are found, before rows are read whole
	Screen    bool   `json:"screen"`     // users are judged by few columns first
	Amount
	Seconds float64 `json:"seconds"`
}

// MarshalJSON also writes the keys settle and passed. They are aliases of decided_by and scanned.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plan Plan // has no MarshalJSON
	return json.Marshal(struct {
		plan
		Settle string `json:"settle"`
		Passed int64  `json:"passed"`
	}{plan(p), p.DecidedBy, p.Scanned})
}

// An Amount counts what a plan reads.
type Amount struct {
	Users      int64 `json:"users"`      // users whose rows are read whole
	Rows       int64 `json:"rows"`       // rows of these users
	Behaviours int64 `json:"behaviours"` // behaviours in these rows
	Cells      int64 `json:"cells"`      // cells that are returned
	Scanned    int64 `json:"scanned"`    // cells that are scanned, the returned ones included
	Needs      int64 `json:"needs"`      // cells that the result is made from
	Walked     int64 `json:"walked"`     // rows that are scanned for their users
	Bytes      int64 `json:"bytes"`      // bytes of files, or of servers' responses
	Calls      int64 `json:"calls"`      // reads of files, or calls of servers
}

// The ways to find the active users.
const (
	ByRolls = "rolls"         // the rolls list who did what
	ByRows  = "rows, at once" // rows are read whole
	ByExist = "rows, by name" // gets test which rows exist, behaviour by behaviour
	ByWalk  = "rows, walked"  // all rows of the table are scanned for their users
)

// The plans.
const (
	Files    = "files"
	Get      = "get"
	Scan     = "scan"
	Snapshot = "snapshot"
)

// Plans returns the possible plans, at least one, in a fixed order: for each name, the plan
// with rolls before the plan without.
func (f Facts) Plans() []Plan {
	var out []Plan
	names := []string{Files}
	if f.Live {
		names = []string{Get, Scan}
		if f.Unnamed {
			names = names[1:]
		}
	}
	for _, name := range names {
		if f.Rolls != Unknown {
			out = append(out, f.plan(name, ByRolls))
		}
		out = append(out, f.plan(name, f.byRows()))
	}
	if f.Live {
		out = append(out, f.plan(Snapshot, f.byRows()))
	}
	return out
}

// byRows returns how the active users are found without rolls.
func (f *Facts) byRows() string {
	switch {
	case f.All:
		return ByWalk
	case f.Absent:
		return ByExist
	}
	return ByRows
}

// plan estimates the cost of one plan.
func (f *Facts) plan(name, decidedBy string) Plan {
	p := Plan{Name: name, DecidedBy: decidedBy, Screen: f.Screens && (name == Get || name == Scan)}
	who := f.Stay
	asked := who.Users // users whose rows are requested
	if decidedBy == ByRows {
		who, asked = f.Found, f.Listed
	}
	a := f.averages()
	p.Users = asked
	f.amount(&p, who, &a)
	whole := 1.0 // share of users who are read whole
	if p.Screen {
		whole = screenedStay
		p.Cells = rounded(float64(p.Behaviours) * (a.judged + whole*a.asked))
	}
	switch name {
	case Files:
		f.files(&p, who, asked)
	case Get:
		f.gets(&p, asked, whole, &a)
	case Scan:
		f.scans(&p, asked, whole, &a)
	case Snapshot:
		f.snapshot(&p, asked)
	}
	f.find(&p, name, decidedBy)
	p.Seconds += float64(p.Behaviours) * whole / written / f.workers()
	p.Seconds = math.Round(p.Seconds*1000) / 1000
	return p
}

func (f *Facts) workers() float64 { return float64(max(f.Workers, 1)) }

// files adds the cost of reading a table of files. It assumes that a user's rows of one
// file are in one block.
func (f *Facts) files(p *Plan, who People, asked int64) {
	blocks := max(float64(f.Bytes)*encodedShare/blockBytes, 1)
	touched := float64(min(who.UserDays, who.Users*max(f.Loads, 1)))
	if who.Users == 0 {
		touched = 0
	}
	hit := blocks * (1 - math.Exp(-touched/blocks))
	p.Bytes = rounded(float64(f.Size) * hit / blocks)
	// One read returns neighbouring blocks.
	apart := math.Exp(-touched / blocks)
	p.Calls = rounded(hit*apart+float64(p.Bytes)/readAhead*(1-apart)) + openReads*min(f.Files, rounded(touched))
	p.Seconds = startSeconds + (hit/fileBlocks+float64(p.Scanned)/fileCells)/f.workers()
	p.Seconds += float64(asked-who.Users) * float64(f.Loads) / fileBlocks / f.workers()
}

// each returns the number of rows that a user could have.
func (f *Facts) each() int64 {
	if f.Named > 0 {
		return f.Named
	}
	return f.read() * int64(f.Days)
}

// gets adds the cost of one get for every row that a user could have.
func (f *Facts) gets(p *Plan, asked int64, whole float64, a *averages) {
	rows := float64(asked * f.each())
	if p.Screen {
		rows *= 1 + whole
	}
	if p.Screen {
		p.Scanned = p.Cells
	}
	p.Bytes = rounded(float64(p.Cells) * a.bytes)
	p.Calls = connectCalls + max(getCalls(rows), min(asked, f.Regions))
	p.Seconds = connectSeconds + rows/getsPerSecond + float64(p.Cells)/scannedCells
}

// getCalls returns the number of calls for gets of the given number of rows.
func getCalls(rows float64) int64 {
	first := min(rows, getsBefore)
	return rounded(math.Ceil(first/getsAtFirst) + math.Ceil((rows-first)/getsInCall))
}

// scans adds the cost of scans that jump from user to user.
func (f *Facts) scans(p *Plan, asked int64, whole float64, a *averages) {
	times := 1.0
	if p.Screen {
		times = 1 + whole
	}
	p.Scanned = rounded(float64(p.Scanned) * times)
	p.Bytes = rounded(float64(p.Cells) * a.bytes)
	scans := max(math.Ceil(float64(asked)/usersInScan), float64(min(asked, f.Regions))) // a scan ends with its region
	p.Calls = connectCalls + rounded(times*scans+math.Floor(float64(p.Bytes)/responseBytes))
	p.Seconds = connectSeconds + times*float64(asked)/scannedUsers + float64(p.Scanned)/scannedCells
}

// snapshot adds the cost of reading HBase's files. Their blocks are larger and hold more
// than one user.
func (f *Facts) snapshot(p *Plan, asked int64) {
	a := f.averages()
	p.Bytes = rounded(float64(p.Scanned) * a.bytes * encodedShare)
	p.Calls = rounded(float64(min(asked*max(f.Loads, 1), p.Bytes/blockBytes+1)))
	p.Seconds = connectSeconds + snapshotSeconds + float64(asked)/snapshotUsers + float64(p.Scanned)/snapshotCells
}

// find adds the cost of finding the active users.
func (f *Facts) find(p *Plan, name, decidedBy string) {
	rows := 0.0 // rows that are tested or scanned
	switch decidedBy {
	case ByRolls:
		p.Seconds += float64(f.Found.UserDays) / rolledUsers / f.workers()
		return
	case ByRows:
		return
	case ByExist:
		rows = float64(f.Listed) * float64(f.Days) * float64(f.read())
	case ByWalk:
		rows = f.walked(name)
		p.Walked = rounded(rows)
	}
	switch {
	case name == Files && decidedBy == ByWalk:
		p.Bytes += f.Size
		p.Calls += f.Size / readAhead
		p.Seconds += float64(f.TableRecords) * f.averages().every / fileCells / f.workers()
	case name == Files:
		p.Seconds += rows / fileBlocks / f.workers()
	case name == Snapshot:
		records := rows * recordsInRow
		if decidedBy == ByWalk {
			records = float64(f.TableRecords)
		}
		p.Seconds += records * f.averages().every / snapshotCells
	case decidedBy == ByWalk:
		p.Calls += rounded(rows * keyBytes / responseBytes)
		p.Bytes += rounded(rows * keyBytes)
		p.Seconds += f.walked(Files) / scannedRows // servers scan the other days too
	default:
		p.Calls += getCalls(rows)
		p.Seconds += rows / getsPerSecond
	}
}

// walked returns the number of rows that a scan of all users returns. Servers skip rows of
// other days, unless a row has all days.
func (f *Facts) walked(plan string) float64 {
	records := f.TableRecords
	if plan == Get || plan == Scan {
		records = 0
		for _, k := range f.Kinds {
			records += k.Records
		}
	}
	users := float64(f.There.Users)
	switch {
	case f.Row == Record || f.Row == Second:
		return float64(records)
	case f.Row == UserKind && users > 0:
		return users * float64(len(f.Kinds))
	case f.Row == User && users > 0:
		return users
	}
	return float64(records) / recordsInRow
}

// Guesses about the rows of such a scan: the records in a row, and the bytes that a server
// returns for a row.
const (
	recordsInRow = 2
	keyBytes     = 60
)

func rounded(x float64) int64 { return int64(math.Round(x)) }
