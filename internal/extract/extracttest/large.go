package extracttest

import (
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/test/testworld"
)

// Large returns a fixture of users with each plays of large values, and a query for all of them. A
// value has size bytes.
func Large(t *testing.T, users, each, size int) (*Fixture, testworld.Query) {
	t.Helper()
	h := New(t, `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  play: {id: 1, fields: {title: string}}
`)
	day := behaviour.DateOf(2014, 9, 1)
	var text strings.Builder
	text.WriteString("user_id,time,title\n")
	for u := range users {
		for i := range each {
			fmt.Fprintf(&text, "%04d,2014-09-01 00:00:%02d,%s\n", u, i, Title(u, i, size))
		}
	}
	h.Deliver(t, testworld.File{Name: day.String() + "/play.csv", Text: []byte(text.String())})
	q := testworld.Query{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"play"}}
	h.Load(t, Turn{Name: "trails", Workers: 2, Memory: 256 << 20, Regions: 1}, q.Span)
	return h, q
}

// Title returns the value of a play of a user.
func Title(user, play, size int) string {
	return strings.Repeat(fmt.Sprintf("%04d.%02d ", user, play), size/8)
}
