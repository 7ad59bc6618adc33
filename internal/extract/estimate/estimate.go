// Package estimate estimates the cost of a query: the possible plans, what each plan reads
// and how long it takes, which plan an extract uses, and why. It computes with numbers
// only. The caller gathers them without reading an event.
//
//	Facts ──▶ Plans ──▶ Choose
//	      ──▶ Logs: would the delivered files be read sooner?
//
// # How far to trust it
//
// Users, rows and calls that Facts has from rolls are exact. Behaviours and cells are
// averages over the query's days. They are wrong if the query's users did more than other
// users, or other things. Times are computed from rates that were measured on one
// machine (rates.go): use them only to compare plans.
package estimate

import "math"

// A Kind counts the records of one behaviour on the query's days.
type Kind struct {
	Records, Cells, Bytes int64
	Read                  bool    // in --types, or named by a condition
	Asked                 float64 // share of its fields that the result and conditions need, 0..1
	Judged                float64 // share of its fields that judging users needs, 0..1
}

// People counts users, and their rows and records on the query's days.
type People struct {
	Users     int64
	UserDays  int64 // pairs of user and day; a day counts once for each load that has it
	UserKinds int64 // pairs of user and behaviour, of the behaviours that are read
	Rows      int64 // triples of user, day and behaviour, of the behaviours that are read
	AllRows   int64 // triples of user, day and behaviour, of all behaviours
	Records   int64 // records of all behaviours
}

// Add adds o to p.
func (p *People) Add(o People) {
	p.Users += o.Users
	p.UserDays += o.UserDays
	p.UserKinds += o.UserKinds
	p.Rows += o.Rows
	p.AllRows += o.AllRows
	p.Records += o.Records
}

// Times returns p with every count multiplied by n.
func (p People) Times(n float64) People {
	times := func(v int64) int64 { return int64(math.Round(float64(v) * n)) }
	return People{times(p.Users), times(p.UserDays), times(p.UserKinds), times(p.Rows), times(p.AllRows), times(p.Records)}
}

// Rolls reports whether the rolls list all users of a table.
type Rolls string

// The values of Rolls.
const (
	Known   Rolls = "known"   // they list all users who have rows
	Off     Rolls = "off"     // as Known, but the query must not use them
	Unknown Rolls = "unknown" // the table may have rows that no roll lists
)

// Facts holds everything that is known about a query and its table before a row is read.
type Facts struct {
	Live    bool // the table is in HBase; else it is one of files
	Rolls   Rolls
	Workers int

	All    bool   // the query is for all users
	Listed int64  // users on the list
	There  People // users of the query who have any rows, according to the rolls
	Found  People // users of There who did any of the behaviours that make a user active
	Stay   People // users of Found who may be active

	Kinds   []Kind // of the schema
	ByKind  bool   // Kinds has separate counts; else the total is spread over the kinds
	Days    int
	Absent  bool // users who cannot be active are found before rows are read whole
	Screens bool // users are judged by few columns first, if that is faster

	Regions      int64 // of the table
	Loads        int64 // loads with records of these days
	Files        int64 // HFiles with records of these days
	Size         int64 // size of Files, in bytes
	Bytes        int64 // bytes of the cells in Files, as tally counts them
	TableRecords int64 // records of all days
	FileRecords  int64 // records of all days in Files

	Layout // of the table
	Window // of each trail

	Asked string // the plan of --plan: auto, get, scan or snapshot
	Auto  string // the plan that auto selects
}

// read returns the number of behaviours that are read.
func (f *Facts) read() int64 {
	n := int64(0)
	for _, k := range f.Kinds {
		if k.Read {
			n++
		}
	}
	return n
}

// averages are averages over the records of the query's days.
type averages struct {
	share         float64 // fraction of the records whose behaviours are read
	asked, judged float64 // cells of such a record that are read, or needed to judge its user
	full          float64 // all cells of such a record
	every         float64 // cells of a record of any behaviour
	bytes         float64 // bytes of a cell
}

func (f *Facts) averages() averages {
	var records, read, cells, bytes int64
	var a averages
	for _, k := range f.Kinds {
		records += k.Records
		cells += k.Cells
		bytes += k.Bytes
		if k.Read {
			read += k.Records
			a.asked += atLeastOne(k, k.Asked)
			a.judged += atLeastOne(k, k.Judged)
			a.full += atLeastOne(k, 1)
		}
	}
	over := func(x float64, n int64) float64 { return x / float64(max(n, 1)) }
	a.share, a.asked, a.judged = f.share(over(float64(read), records)), over(a.asked, read), over(a.judged, read)
	a.full = over(a.full, read)
	a.every, a.bytes = over(float64(cells), records), over(float64(bytes), cells)
	return a
}

// share returns the fraction of the candidates' records that the query reads; all is the
// same fraction over every user. The counts of rows show how candidates differ from other
// users.
func (f *Facts) share(all float64) float64 {
	if f.Stay.AllRows == 0 || all == 1 {
		return all
	}
	stay := float64(f.Stay.Rows) / float64(f.Stay.AllRows)
	if !f.ByKind {
		return stay
	}
	there := float64(f.There.Rows) / float64(max(f.There.AllRows, 1))
	if there == 0 || there == 1 || all == 0 {
		return all
	}
	// The ratio of records in a row that is read to records in a row that is not.
	dense := all / (1 - all) * (1 - there) / there
	return stay * dense / (stay*dense + 1 - stay)
}

// atLeastOne returns the number of cells of k that are read if a share of its fields is
// read. It is at least one for each record, because one cell shows that the record exists.
func atLeastOne(k Kind, share float64) float64 {
	return max(float64(k.Cells)*share, float64(k.Records))
}

// Guess fills in the counts of users that no roll lists. It assumes that each user has as
// many records as a user of the largest load of these days, which has the given number of
// users. If that number is 0, it assumes guessedRecords for each user.
func (f *Facts) Guess(users int64) {
	var records int64
	for _, k := range f.Kinds {
		records += k.Records
	}
	who := f.Stay.Users
	switch {
	case who > 0:
	case f.All:
		who = users
	default:
		who = f.Listed
	}
	each := float64(guessedRecords)
	if users > 0 {
		each = float64(records) / float64(users)
	}
	days := min(float64(f.Days), each)
	rows := min(days*float64(len(f.Kinds)), each)
	read := rows * float64(f.read()) / float64(max(len(f.Kinds), 1))
	n := float64(who)
	kinds := min(float64(f.read()), read)
	f.Stay = People{who, rounded(n * days), rounded(n * kinds), rounded(n * read), rounded(n * rows), rounded(n * each)}
	f.There, f.Found = f.Stay, f.Stay
}

// guessedRecords is the assumed number of records of a user if the table has no counts.
const guessedRecords = 32

// Expected returns the estimated amount that the result is made from, whatever the plan.
func (f *Facts) Expected() Amount {
	a := f.averages()
	behaviours := f.Window.of(float64(f.Stay.Records)*a.share, f.Stay.Users)
	cells := a.asked
	if f.Screens {
		cells = a.judged + screenedStay*(a.asked-a.judged)
	}
	return Amount{
		Users: f.Stay.Users, Rows: f.rows(f.Stay, rounded(behaviours)),
		Behaviours: rounded(behaviours), Cells: rounded(behaviours * cells),
	}
}
