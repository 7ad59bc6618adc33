package job

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/store/dfs"
)

// ErrQueries is wrapped by every error about a wrong file of queries.
var ErrQueries = errors.New("the file of queries is wrong")

// A Query is a query that users of a table make, and how often they make it.
type Query struct {
	Who    string   `json:"who,omitempty"`
	Ask    Ask      `json:"ask"`
	Last   int      `json:"last,omitempty"`  // number of latest events; 10
	Days   int      `json:"days,omitempty"`  // of the span; 10
	Hours  float64  `json:"hours,omitempty"` // length of a span without users; 1
	Types  []string `json:"types,omitempty"` // empty means all
	Users  Users    `json:"users,omitzero"`  // the users of a list
	PerDay float64  `json:"per_day"`
}

// An Ask is a kind of query.
type Ask string

// The kinds of queries.
const (
	At     Ask = "at"     // the events of the user at a time
	User   Ask = "user"   // all events of the user
	Latest Ask = "latest" // the latest events of the user
	Days   Ask = "days"   // some days and behaviours of one user
	List   Ask = "list"   // some days and behaviours of many users: days, with users
	Hours  Ask = "span"   // the users with an event in these hours
)

// Users is a number of users, or a fraction of all users.
type Users struct {
	Count int64   `json:"count,omitempty"`
	Share float64 `json:"share,omitempty"` // 0..1
}

// asks lists the kinds of queries and the keys that each allows, in addition to who and
// per_day.
var asks = map[Ask][]string{
	At:     {},
	User:   {},
	Latest: {"last"},
	Days:   {"days", "types", "users"},
	Hours:  {"hours", "types"},
}

// askNames lists the kinds as a file names them. A list is days with users.
var askNames = []string{string(At), string(User), string(Latest), string(Days), string(Hours)}

var queryLevel = level{"of a query", []string{"who", "ask", "last", "days", "hours", "types", "users", "per_day"}}

// Limits of the numbers in a query.
const (
	maxLast  = 1_000_000
	maxDays  = 36_600
	maxHours = 24 * 366
	maxUsers = math.MaxInt32
	maxAsked = 1e12 // per day
)

// LoadQueries reads the file of queries called name, about a table of schema s.
func LoadQueries(ctx context.Context, files dfs.FS, name string, s *behaviour.Schema) ([]Query, error) {
	data, err := read(ctx, files, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQueries, err)
	}
	return ParseQueries(name, data, s)
}

// ParseQueries reads the text of a file of queries, which is a list in YAML, about a
// table of schema s. It reports all mistakes at once.
func ParseQueries(name string, data []byte, s *behaviour.Schema) ([]Query, error) {
	doc := &document{name: name}
	var out []Query
	if root, ok := doc.root(data, "list of queries", "write a list such as - {ask: latest, last: 10, per_day: 50000}"); ok {
		for _, item := range root.items() {
			out = append(out, item.query(s))
		}
	}
	if err := doc.errOf(ErrQueries); err != nil {
		return nil, err
	}
	return out, nil
}

// query reads one query.
func (v value) query(s *behaviour.Schema) Query {
	o, ok := v.object(queryLevel)
	if !ok {
		return Query{}
	}
	q := Query{Last: 10, Days: 10, Hours: 1}
	q.Who, _ = o.get("who").word()
	q.readAsk(o)
	if n, ok := o.get("last").whole(1, maxLast); ok {
		q.Last = n
	}
	if n, ok := o.get("days").whole(1, maxDays); ok {
		q.Days = n
	}
	if n, ok := o.get("hours").amount(maxHours); ok {
		q.Hours = n
	}
	if q.Users, ok = o.get("users").users(); ok && q.Ask == Days {
		q.Ask = List
	}
	q.readTypes(o.get("types"), s)
	if per := o.get("per_day"); per.given() {
		q.PerDay, _ = per.amount(maxAsked)
	} else {
		per.wrong("missing: how often a day it is asked")
	}
	return q.trimmed()
}

// readAsk reads the kind of query, and reports keys that the kind does not allow.
func (q *Query) readAsk(o object) {
	ask := o.get("ask")
	if !ask.given() {
		ask.wrong("missing: one of %s", strings.Join(askNames, ", "))
		return
	}
	name, ok := ask.oneOf("query", askNames)
	if !ok {
		return
	}
	q.Ask = Ask(name)
	for _, key := range queryLevel.keys[2 : len(queryLevel.keys)-1] {
		if v := o.get(key); v.given() && !slices.Contains(asks[q.Ask], key) {
			v.wrong("says nothing of ask: %s", name)
		}
	}
}

// readTypes reads the requested behaviours.
func (q *Query) readTypes(v value, s *behaviour.Schema) {
	names, _ := v.texts()
	for i, name := range names {
		k, ok := s.Find(name)
		if !ok {
			v.wrong("the job has no behaviour %q, %s", name, s.Instead(name))
			continue
		}
		names[i] = s.Kinds[k].Name
	}
	q.Types = names
}

// trimmed returns q without the defaults that do not apply to its kind.
func (q Query) trimmed() Query {
	if q.Ask != Latest {
		q.Last = 0
	}
	if q.Ask != Days && q.Ask != List {
		q.Days = 0
	}
	if q.Ask != Hours {
		q.Hours = 0
	}
	return q
}

// amount returns a number above 0, at most most.
func (v value) amount(most float64) (float64, bool) {
	s, ok := v.text()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) {
		v.wrong("%q is not a number", s)
		return 0, false
	}
	if n <= 0 || n > most {
		v.wrong("%s is not above 0 and at most %g", s, most)
		return 0, false
	}
	return n, true
}

var usersText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(%?)$`)

// users returns the number of users of a list: 2000, 1% or all.
func (v value) users() (Users, bool) {
	s, ok := v.text()
	if !ok {
		return Users{}, false
	}
	if s == "all" {
		return Users{Share: 1}, true
	}
	m := usersText.FindStringSubmatch(s)
	if m == nil {
		v.wrong("%q is not a number of users such as 2000, 1%% or all", s)
		return Users{}, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	switch {
	case m[2] == "%" && err == nil && n > 0 && n <= 100:
		return Users{Share: n / 100}, true
	case m[2] == "" && err == nil && n >= 1 && n <= maxUsers && n == math.Trunc(n):
		return Users{Count: int64(n)}, true
	}
	v.wrong("%s is not in 1..%d, nor above 0%% and at most 100%%", s, maxUsers)
	return Users{}, false
}

// Title returns a short text for the query.
func (q Query) Title() string {
	number := func(n float64, unit string) string {
		if n != 1 {
			unit += "s"
		}
		return strconv.FormatFloat(n, 'g', 4, 64) + " " + unit
	}
	switch q.Ask {
	case Latest:
		return fmt.Sprintf("latest %d", q.Last)
	case Days:
		return number(float64(q.Days), "day")
	case List:
		if q.Users.Count > 0 {
			return number(float64(q.Users.Count), "user")
		}
		return fmt.Sprintf("%.4g%% of users", 100*q.Users.Share)
	case Hours:
		return number(q.Hours, "hour")
	}
	return string(q.Ask)
}
