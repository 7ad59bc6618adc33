package estimate

import (
	"fmt"
	"math"
	"strings"

	"usertrail/internal/run/quantity"
)

// A Row describes the content of a row of a table.
type Row string

// The values of Row, one for each kind of layout.
const (
	DayKind  Row = "a user's events of one behaviour on a day"
	Day      Row = "a user's events of a day"
	UserKind Row = "a user's events of one behaviour"
	User     Row = "all events of a user"
	Second   Row = "a user's events of a second"
	Record   Row = "one event"
)

// A Layout describes how a table stores events, and how a read can be narrowed.
type Layout struct {
	Name     string
	Row      Row   // "" is DayKind
	Prefixes bool  // reads select columns by prefixes
	Columns  bool  // reads select columns by a range
	KindRows bool  // scans skip rows of other behaviours
	Sifts    bool  // the column of a cell shows its behaviour
	AllDays  bool  // scans cover other days too
	TimeRows bool  // scans can be narrowed to times of the day
	Ranged   bool  // ranges of rows and columns hold nothing of other times
	Apart    bool  // a user's rows are not adjacent
	Unnamed  bool  // the keys of a user's rows cannot be computed
	Named    int64 // the number of rows that a user can have; 0: one for each behaviour and day
	Fuzzy    bool  // servers can skip rows of other days, of all users
	Versions int   // versions of a column that are kept; 0 is one
}

// A Window describes the part of a trail that matters to a query.
type Window struct {
	Timed  bool    // only some times of the span matter
	Within float64 // the share of the span that matters, if Timed
	Newest int64   // only the last events matter, at most this number; 0 is all
	Tested bool    // only events with some values matter; their number is not known
	Whole  bool    // trails are read whole nevertheless, to find out who is active
}

// of returns how many of the users' behaviours are in the window.
func (w *Window) of(behaviours float64, users int64) float64 {
	if w.Timed {
		behaviours *= w.Within
	}
	if w.Newest > 0 {
		behaviours = min(behaviours, float64(w.Newest*users))
	}
	return behaviours
}

// rows returns the number of rows that hold the given number of behaviours of who.
func (f *Facts) rows(who People, behaviours int64) int64 {
	rows := who.Rows
	switch f.Row {
	case Record, Second:
		return behaviours
	case UserKind:
		rows = who.UserKinds
	case User:
		rows = who.Users
	case Day:
		rows = min(who.UserDays, who.Rows)
	}
	if !f.Timed && f.Newest == 0 || rows == 0 {
		return rows
	}
	// Some rows have no event in the window.
	return rounded(float64(rows) * (1 - math.Exp(-float64(behaviours)/float64(rows))))
}

// amount fills in the counts of p for a plan that reads the users who.
func (f *Facts) amount(p *Plan, who People, a *averages) {
	records := float64(who.Records)
	some := f.Window.of(records*a.share, who.Users)
	p.Needs = rounded(some * a.asked)
	left := f.Window.of // applies the window, if it narrows reads
	if f.Whole {
		left = func(behaviours float64, _ int64) float64 { return behaviours }
	}
	p.Behaviours = rounded(left(records*a.share, who.Users))
	p.Rows = f.rows(who, p.Behaviours)
	come, scanned, each := float64(p.Behaviours)*a.asked, records, a.every
	switch {
	case !f.KindRows && !f.Sifts && f.Name != "": // all behaviours are read
		come = left(records, who.Users) * a.every
	case p.Name == Get: // gets do not scan other rows and columns
		scanned, each = records*a.share, a.asked
	case f.KindRows:
		scanned, each = records*a.share, a.full
	}
	if f.TimeRows || f.Newest > 0 {
		scanned = left(scanned, who.Users)
	}
	p.Cells, p.Scanned = rounded(come), rounded(scanned*each*f.days(p.Name))
}

// days returns the number of records that are scanned for each record of the query's days.
func (f *Facts) days(plan string) float64 {
	var span int64
	for _, k := range f.Kinds {
		span += k.Records
	}
	all := f.TableRecords
	if plan == Files {
		all = f.FileRecords
	}
	if !f.AllDays || span == 0 {
		return 1
	}
	return max(float64(all)/float64(span), 1)
}

// Pushed lists how a plan narrows the read where the table is stored.
func (f *Facts) Pushed(p *Plan) []string {
	out := []string{}
	push := func(what string, is bool) {
		if is {
			out = append(out, what)
		}
	}
	servers, newest := p.Name == Get || p.Name == Scan, f.Newest > 0 && !f.Whole
	jumps := servers && f.Ranged && (f.Columns || p.Name == Scan && !newest) // over cells of other times
	push("rows by name", p.Name == Get)
	push("ranges of rows", p.Name != Get)
	push("files of other times", !jumps)
	push("time range", servers && !jumps)
	push("columns", f.Prefixes && servers)
	push("column range", f.Columns)
	push("newest", newest)
	push("values", f.Tested && !f.Whole && servers)
	push("versions", f.Versions > 0 && p.Name != Files)
	push("fuzzy rows", f.Fuzzy && p.DecidedBy == ByWalk && servers)
	return out
}

// muchMore is how many times the needed cells a plan may scan without giving reasons.
const muchMore = 2

// whyRows returns a sentence on the rows and cells that a plan reads. If the plan scans
// more than muchMore times the needed cells, a second sentence has the reasons.
func (f *Facts) whyRows(p *Plan, a *averages) string {
	row := f.Row
	if row == "" {
		row = DayKind
	}
	text := fmt.Sprintf("In the layout %s a row holds %s. %s with %s are read; the result needs %s.", f.Name, row,
		quantity.Of(p.Rows, "row"), quantity.Of(p.Cells, "cell"), quantity.Of(p.Needs, "cell"))
	if most := max(p.Cells, p.Scanned); most > muchMore*p.Needs {
		if because := f.because(p, a); len(because) > 0 {
			text += fmt.Sprintf(" To find them, %s are scanned: %s.", quantity.Of(most, "cell"), strings.Join(because, "; "))
		}
	}
	return text
}

// because returns the reasons why a plan scans more cells than the result needs.
func (f *Facts) because(p *Plan, a *averages) []string {
	const few = 0.9
	var out []string
	add := func(is bool, text string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(text, args...))
		}
	}
	add(f.Whole && (f.Timed || f.Newest > 0 || f.Tested), "only whole trails show who is active")
	add(f.days(p.Name) > 1/few, "a row holds all days of its user")
	add(f.Timed && !f.Whole && !f.TimeRows && f.Within < few, "rows are not divided by the time of day")
	beside := a.share < few && !f.KindRows && (p.Name != Get || !f.Sifts)
	add(beside && (f.Sifts || p.Name == Files), "rows or columns of other behaviours are stored in between")
	add(beside && !f.Sifts && p.Name != Files, "other behaviours are read too, since no row or column can be chosen by behaviour")
	add(a.asked < few*a.full, "other fields are stored in between")
	add(p.Screen, "few columns of the users are read first, to filter the users")
	return out
}
