// Package estimate says what it would take to answer a question about a table: which
// plans there are, what each of them reads and how long that takes, which one is
// taken, and why. It knows numbers only; who gathers them reads no behaviour for it.
//
//	Facts ──▶ Plans ──▶ Choose
//	      ──▶ Logs: would the delivered files be read sooner?
//
// # How far to trust it
//
// Users, rows and calls that Facts know from rolls are exact. Behaviours and cells are
// averages of the days asked for, so they are off where those who are asked for did
// more, or other things, than the rest. Times come of rates that were measured on one
// machine (rates.go): they tell plans apart, and no more.
package estimate

import "math"

// A Kind is what the days of a question hold of one behaviour.
type Kind struct {
	Records, Cells, Bytes int64
	Read                  bool    // asked for, or named by a condition
	Asked                 float64 // share of its fields that are read of who stays, 0..1
	Judged                float64 // share of its fields that judging users takes, 0..1
}

// People are users, with what they have on the days of a question.
type People struct {
	Users     int64
	UserDays  int64 // days of all of them; one that several loads brought counts as many times
	UserKinds int64 // of the behaviours that are read, how many each did
	Rows      int64 // days of each of these
	AllRows   int64 // and of all behaviours
	Records   int64 // of all behaviours
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

// Times is p so many times.
func (p People) Times(n float64) People {
	times := func(v int64) int64 { return int64(math.Round(float64(v) * n)) }
	return People{times(p.Users), times(p.UserDays), times(p.UserKinds), times(p.Rows), times(p.AllRows), times(p.Records)}
}

// Rolls says what the rolls know of a table.
type Rolls string

// What there may be of rolls.
const (
	Known   Rolls = "known"   // they name all who have rows
	Off     Rolls = "off"     // as Known, and they are not to be used
	Unknown Rolls = "unknown" // there may be rows that no roll knows
)

// Facts are what is known of a question and its table before any row is read.
type Facts struct {
	Live    bool // the table is in HBase; else it is one of files
	Rolls   Rolls
	Workers int

	All    bool   // every user is asked for
	Listed int64  // users on the list
	There  People // of those asked for, who have any rows at all, as far as rolls tell
	Found  People // of these, who did any of the behaviours that make a user active
	Stay   People // of these, who may be active

	Kinds   []Kind // of the schema
	ByKind  bool   // Kinds tell them apart; else what all have is spread over them
	Days    int
	Absent  bool // who cannot be active is found out before rows are read whole
	Screens bool // users are judged by few columns first, where that pays

	Regions      int64 // of the table
	Loads        int64 // that brought anything for these days
	Files        int64 // HFiles of these days
	Size         int64 // of them, in bytes
	Bytes        int64 // of their cells, as tally counts them
	TableRecords int64 // of all days
	FileRecords  int64 // of all days in these files

	Layout // of the table
	Window // of each trail

	Asked string // the plan that was asked for: auto, get, scan or snapshot
	Auto  string // what auto comes to
}

// read is how many behaviours a user is asked for.
func (f *Facts) read() int64 {
	n := int64(0)
	for _, k := range f.Kinds {
		if k.Read {
			n++
		}
	}
	return n
}

// averages are those of a record of the days asked for.
type averages struct {
	share         float64 // of records that are of behaviours that are read
	asked, judged float64 // cells of such a record
	full          float64 // all cells of such a record
	every         float64 // cells of a record of any behaviour
	bytes         float64 // of a cell
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

// share is how many of the records of those who may be active are of behaviours that
// are read, where it is all of everybody's. Rows tell how they differ from everybody.
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
	// Records of a row that is read, for each record of one that is not.
	dense := all / (1 - all) * (1 - there) / there
	return stay * dense / (stay*dense + 1 - stay)
}

// atLeastOne is how many cells come of k when a share of its fields is read: a record
// has one at least that tells that it is there.
func atLeastOne(k Kind, share float64) float64 {
	return max(float64(k.Cells)*share, float64(k.Records))
}

// Guess fills in users of whom no roll tells: each has as much as one of the users of
// the largest load of these days, of whom there are so many. Nothing is guessed where
// no load tells.
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

// guessedRecords is what a user of a table is taken to have of which nothing is known.
const guessedRecords = 32

// Expected is what an answer is made from, whatever the plan.
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
