package testworld

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"usertrail/internal/behaviour"
)

// A Query is the query of one extract.
type Query struct {
	Users  []string // nil is all users; repeated and unknown users are allowed
	Span   behaviour.Span
	Kinds  []string // as --types
	Active string   // as --active: "all", "any" or "min:N"
	Early  bool     // before the late files arrived

	Conditions Conditions
}

// A Result is the expected result.
type Result struct {
	Users  int // number of different requested users; for all users, the number of found ones
	Found  int // number of these with any of the kinds in the span
	Active int // number of these that are active
	Rows   []Row
}

// A Row is one event of an active user. Rows are sorted by user, time, behaviour ID and
// column ID.
type Row struct {
	User      string
	Date      string // YYYY-MM-DD
	Time      string // 2006-01-02T15:04:05.999999Z
	Behaviour string
	ID        int64
	Values    map[string]string // fields that are not null
}

// Oracle computes the result of q with simple loops and a sort.
func (w *W) Oracle(q Query) Result {
	everybody := q.Users == nil
	asked := slices.Clone(q.Users)
	if everybody {
		asked = slices.Clone(w.Users)
	}
	slices.Sort(asked)
	asked = slices.Compact(asked)

	result := Result{Users: len(asked)}
	for _, user := range asked {
		rows, found, active := w.narrowed(w.trail(user, q), q)
		if found {
			result.Found++
		}
		if active {
			result.Active++
		}
		result.Rows = append(result.Rows, rows...)
	}
	if everybody {
		result.Users = result.Found
	}
	return result
}

// trail returns the events of a user on the days of q, in order.
func (w *W) trail(user string, q Query) []Row {
	var acts []*act
	for _, a := range w.acts {
		d := w.date(a)
		if a.user == user && q.Span.From <= d && d <= q.Span.To && !(a.late && q.Early) {
			acts = append(acts, a)
		}
	}
	slices.SortFunc(acts, func(a, b *act) int {
		return cmp.Or(cmp.Compare(a.micros, b.micros), cmp.Compare(kinds[a.kind].ID, kinds[b.kind].ID), cmp.Compare(a.id, b.id))
	})
	var out []Row
	for _, a := range acts {
		out = append(out, w.row(a))
	}
	return out
}

// needed returns the number of different kinds that make a user active.
func (q Query) needed() int {
	switch {
	case q.Active == "" || q.Active == "all":
		kinds := slices.Clone(q.Kinds)
		slices.Sort(kinds)
		return len(slices.Compact(kinds))
	case q.Active == "any":
		return 1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(q.Active, "min:"))
	if err != nil {
		panic(fmt.Sprintf("testworld: --active %q is none of all, any, min:N", q.Active))
	}
	return n
}

func (w *W) row(a *act) Row {
	row := Row{
		User:      a.user,
		Date:      w.date(a).String(),
		Time:      shownTime(a.micros),
		Behaviour: kinds[a.kind].Name,
		ID:        a.id,
		Values:    map[string]string{},
	}
	for i, f := range kinds[a.kind].Fields {
		if a.fields[i].shown != "" {
			row.Values[f.Name] = a.fields[i].shown
		}
	}
	return row
}

func (r Row) String() string {
	return fmt.Sprintf("%q %s %s %s %d %q", r.User, r.Date, r.Time, r.Behaviour, r.ID, r.Values)
}

// Queries generates n queries. The first requests everything.
func (w *W) Queries(seed uint64, n int) []Query {
	r := rand.New(rand.NewPCG(seed, 2))
	out := []Query{{Span: w.Span, Kinds: w.Names(), Active: "any"}}
	for len(out) < n {
		from := w.Span.From + behaviour.Date(r.IntN(w.Span.Days()))
		q := Query{
			Span:   behaviour.Span{From: from, To: from + behaviour.Date(r.IntN(int(w.Span.To-from)+1))},
			Kinds:  some(r, w.Names(), 1+r.IntN(len(kinds))),
			Active: []string{"all", "any", "min:1", "min:2"}[r.IntN(4)],
		}
		if q.Active == "min:2" && len(q.Kinds) < 2 {
			q.Active = "all"
		}
		if r.IntN(3) > 0 {
			q.Users = some(r, w.Users, 1+r.IntN(len(w.Users)))
			q.Users = append(q.Users, "nobody", q.Users[0])
		}
		out = append(out, q)
	}
	return out[:n]
}

// some returns n of words, in random order.
func some(r *rand.Rand, words []string, n int) []string {
	out := slices.Clone(words)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:n]
}
