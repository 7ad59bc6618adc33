package job_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
)

func plays() *behaviour.Schema {
	return &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}, {ID: 2, Name: "order"}}}
}

func TestQueriesAreRead(t *testing.T) {
	got, err := job.ParseQueries("q.yaml", []byte(`
# who asks what
- {ask: latest, last: 5, per_day: 50000}
- {ask: latest, per_day: 1}
- {who: support, ask: at, per_day: 0.5}
- ask: days
  days: 3
  types: [play]
  per_day: 2
- {ask: days, types: play, users: 1.5%, per_day: 24}
- {ask: days, users: 2000, per_day: 1}
- {ask: days, users: all, per_day: 1}
- {ask: span, hours: 0.5, types: [order, play], per_day: 3}
- {ask: user, per_day: 7}
`), plays())
	want := []job.Query{
		{Ask: job.Latest, Last: 5, PerDay: 50000},
		{Ask: job.Latest, Last: 10, PerDay: 1},
		{Who: "support", Ask: job.At, PerDay: 0.5},
		{Ask: job.Days, Days: 3, Types: []string{"play"}, PerDay: 2},
		{Ask: job.List, Days: 10, Types: []string{"play"}, Users: job.Users{Share: 0.015}, PerDay: 24},
		{Ask: job.List, Days: 10, Users: job.Users{Count: 2000}, PerDay: 1},
		{Ask: job.List, Days: 10, Users: job.Users{Share: 1}, PerDay: 1},
		{Ask: job.Hours, Hours: 0.5, Types: []string{"order", "play"}, PerDay: 3},
		{Ask: job.User, PerDay: 7},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i := range want {
		if len(got[i].Types) == 0 {
			got[i].Types = nil
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("query %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestQueriesHaveTitles(t *testing.T) {
	for want, q := range map[string]job.Query{
		"latest 10":     {Ask: job.Latest, Last: 10},
		"at":            {Ask: job.At},
		"user":          {Ask: job.User},
		"1 day":         {Ask: job.Days, Days: 1},
		"1% of users":   {Ask: job.List, Users: job.Users{Share: 0.01}},
		"2000 users":    {Ask: job.List, Users: job.Users{Count: 2000}},
		"0.5 hours":     {Ask: job.Hours, Hours: 0.5},
		"100% of users": {Ask: job.List, Users: job.Users{Share: 1}},
	} {
		if got := q.Title(); got != want {
			t.Errorf("%+v is called %q, want %q", q, got, want)
		}
	}
}

// TestWrongQueriesSayWhatIsWrong checks that each message has the position, the key, and a
// correct value.
func TestWrongQueriesSayWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                    "q.yaml:1:1: the file is empty: write a list such as",
		"[]":                                                  "the list is empty",
		"just words":                                          "is a text, want keys with values",
		"- latest":                                            "q.yaml:1:3: is a text, want keys with values",
		"- {ask: latest}":                                     "per_day: missing: how often a day it is asked",
		"- {per_day: 1}":                                      "ask: missing: one of at, user, latest, days, span",
		"- {ask: lates, per_day: 1}":                          `ask: "lates" is no query, did you mean latest?`,
		"- {ask: at, per_dya: 1}":                             "q.yaml:1:13: per_dya: unknown key, did you mean per_day?",
		"- {ask: at, frequency: 1}":                           "unknown key, the nearest is ",
		"- {ask: at, per_day: often}":                         `per_day: "often" is not a number`,
		"- {ask: at, per_day: 0}":                             "per_day: 0 is not above 0",
		"- {ask: at, per_day: NaN}":                           `per_day: "NaN" is not a number`,
		"- {ask: at, last: 3, per_day: 1}":                    "last: says nothing of ask: at",
		"- {ask: latest, last: 0, per_day: 1}":                "last: 0 is not in 1..1000000",
		"- {ask: days, days: ten, per_day: 1}":                `days: "ten" is not a whole number`,
		"- {ask: days, users: few, per_day: 1}":               `users: "few" is not a number of users such as 2000, 1% or all`,
		"- {ask: days, users: 101%, per_day: 1}":              "users: 101% is not in 1..",
		"- {ask: days, users: 1.5, per_day: 1}":               "users: 1.5 is not in 1..",
		"- {ask: days, types: [plya], per_day: 1}":            `types: the job has no behaviour "plya", did you mean play?`,
		"- {ask: span, hours: 0, per_day: 1}":                 "hours: 0 is not above 0 and at most 8784",
		"- {ask: span, per_day: 1}\n---\n- {ask: at}":         "a second document begins: a file holds one list of queries",
		"- {ask: span, hours: 1, per_day: 1, per_day: 2}":     "per_day: occurs twice",
		"- {ask: [at], per_day: 1}":                           "ask: is a list, want a text",
		"- {ask: at, per_day: 1":                              "not YAML",
		"- {ask: at, per_day: -1}\n- {ask: bt, per_day: 1}\n": "q.yaml:2:4: ask: \"bt\" is no query",
	} {
		got, err := job.ParseQueries("q.yaml", []byte(text), plays())
		if !errors.Is(err, job.ErrQueries) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, got, err, want)
		}
	}
}
