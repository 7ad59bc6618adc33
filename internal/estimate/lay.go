package estimate

import (
	"fmt"
	"math"
	"strings"
)

// A Row is what a row of a table holds.
type Row string

// What a layout makes a row of.
const (
	DayKind  Row = "a user's behaviours of one name on a day"
	Day      Row = "a user's behaviours of a day"
	UserKind Row = "a user's behaviours of one name"
	User     Row = "all behaviours of a user"
	Second   Row = "a user's behaviours of a second"
	Record   Row = "one behaviour"
)

// A Layout is how a table lays behaviours out, and what reading it is bounded by.
type Layout struct {
	Name     string
	Row      Row   // no text is DayKind
	Prefixes bool  // columns are asked for by how they begin
	Columns  bool  // they are asked for from one up to another
	KindRows bool  // rows of behaviours that are not read are not passed over
	Sifts    bool  // what cells of such rows are of, their columns tell
	AllDays  bool  // what is passed over is not bounded by the days that are asked for
	TimeRows bool  // it is bounded by times of the day, too
	Ranged   bool  // ranges of rows and columns hold nothing of other times
	Apart    bool  // a user's rows do not lie side by side
	Unnamed  bool  // which rows a user has cannot be told
	Named    int64 // how many a user has where they can; 0: one for each behaviour and day
	Fuzzy    bool  // rows of other days can be left out, whoever's they are
	Versions int   // of a column that are kept, 0 is one
}

// A Window is what is of account of a trail.
type Window struct {
	Timed  bool    // some times of the span alone,
	Within float64 // namely this share of it
	Newest int64   // the last so many; 0 is all
	Tested bool    // those of some values alone; nobody knows how many
	Whole  bool    // trails are read whole all the same, to find out who is active
}

// of are those of so many behaviours of some users that are of account.
func (w *Window) of(behaviours float64, users int64) float64 {
	if w.Timed {
		behaviours *= w.Within
	}
	if w.Newest > 0 {
		behaviours = min(behaviours, float64(w.Newest*users))
	}
	return behaviours
}

// rows are those in which some behaviours of who lie.
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
	// Some rows have nothing of the window.
	return rounded(float64(rows) * (1 - math.Exp(-float64(behaviours)/float64(rows))))
}

// amount fills in what a plan reads of who.
func (f *Facts) amount(p *Plan, who People, a *averages) {
	records := float64(who.Records)
	some := f.Window.of(records*a.share, who.Users)
	p.Needs = rounded(some * a.asked)
	left := f.Window.of // of what reads are bounded by
	if f.Whole {
		left = func(behaviours float64, _ int64) float64 { return behaviours }
	}
	p.Behaviours = rounded(left(records*a.share, who.Users))
	p.Rows = f.rows(who, p.Behaviours)
	come, passed, each := float64(p.Behaviours)*a.asked, records, a.every
	switch {
	case !f.KindRows && !f.Sifts && f.Name != "": // all behaviours come
		come = left(records, who.Users) * a.every
	case p.Name == Get: // of rows and columns that were not asked for nothing is seen
		passed, each = records*a.share, a.asked
	case f.KindRows:
		passed, each = records*a.share, a.full
	}
	if f.TimeRows || f.Newest > 0 {
		passed = left(passed, who.Users)
	}
	p.Cells, p.Passed = rounded(come), rounded(passed*each*f.days(p.Name))
}

// days is how many records are passed over for each one of the days that are asked for.
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

// Pushed is what a plan leaves out where the table lies, and does not bring.
func (f *Facts) Pushed(p *Plan) []string {
	out := []string{}
	push := func(what string, is bool) {
		if is {
			out = append(out, what)
		}
	}
	servers, newest := p.Name == Get || p.Name == Scan, f.Newest > 0 && !f.Whole
	jumps := servers && f.Ranged && (f.Columns || p.Name == Scan && !newest) // over what is of other times
	push("rows by name", p.Name == Get)
	push("ranges of rows", p.Name != Get)
	push("files of other times", !jumps)
	push("time range", servers && !jumps)
	push("columns", f.Prefixes && servers)
	push("column range", f.Columns)
	push("newest", newest)
	push("values", f.Tested && !f.Whole && servers)
	push("versions", f.Versions > 0 && p.Name != Files)
	push("fuzzy rows", f.Fuzzy && p.Settle == ByWalk && servers)
	return out
}

// muchMore is how many times of what an answer needs may be read without a word.
const muchMore = 2

// whyRows says what a plan reads, and where that is more than twice of what the answer
// needs, why.
func (f *Facts) whyRows(p *Plan, a *averages) string {
	row := f.Row
	if row == "" {
		row = DayKind
	}
	said := fmt.Sprintf("In the layout %s a row holds %s. %s with %s are read; the result needs %s.", f.Name, row,
		plural(p.Rows, "row"), plural(p.Cells, "cell"), plural(p.Needs, "cell"))
	if most := max(p.Cells, p.Passed); most > muchMore*p.Needs {
		if because := f.because(p, a); len(because) > 0 {
			said += fmt.Sprintf(" To find them, %s are scanned: %s.", plural(most, "cell"), strings.Join(because, "; "))
		}
	}
	return said
}

// because are the reasons why more lies on the way than is needed.
func (f *Facts) because(p *Plan, a *averages) []string {
	const few = 0.9
	var out []string
	add := func(is bool, text string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(text, args...))
		}
	}
	add(f.Whole && (f.Timed || f.Newest > 0 || f.Tested), "only whole trails tell who is active")
	add(f.days(p.Name) > 1/few, "a row holds all days of its user")
	add(f.Timed && !f.Whole && !f.TimeRows && f.Within < few, "rows are not divided by the time of day")
	beside := a.share < few && !f.KindRows && (p.Name != Get || !f.Sifts)
	add(beside && (f.Sifts || p.Name == Files), "rows or columns of other behaviours are stored in between")
	add(beside && !f.Sifts && p.Name != Files, "other behaviours are read too, since no row or column can be chosen by behaviour")
	add(a.asked < few*a.full, "other fields are stored in between")
	add(p.Screen, "users are judged before they are read whole")
	return out
}
