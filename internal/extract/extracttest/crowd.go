package extracttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/test/testworld"
)

// Crowd returns a fixture of the given number of users with many logins, enough for several
// parts of a result. Among every twenty users, one has a shorter play than the others, one
// plays after all logins, and one orders.
func Crowd(t testing.TB, users, each int) (*Fixture, testworld.Query) {
	t.Helper()
	const text = `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  login: {id: 1}
  play: {id: 2, fields: {seconds: int64}}
  order: {id: 3}
`
	h := New(t, text)
	SaveJob(t, h, text)
	day := behaviour.DateOf(2014, 9, 1)
	var logins, plays, orders strings.Builder
	logins.WriteString("user_id,time\n")
	plays.WriteString("user_id,time,seconds\n")
	orders.WriteString("user_id,time\n")
	for i := range each {
		for u := range users {
			fmt.Fprintf(&logins, "%05d,2014-09-01 00:%02d:%02d\n", u, i/60, i%60)
		}
	}
	for u := range users {
		switch u % 20 {
		case shortPlay:
			fmt.Fprintf(&plays, "%05d,2014-09-01 00:00:30,4\n", u)
		case latePlay:
			fmt.Fprintf(&plays, "%05d,2014-09-01 23:00:00,5\n", u)
		case whoOrders:
			fmt.Fprintf(&orders, "%05d,2014-09-01 12:00:00\n", u)
			fallthrough
		default:
			fmt.Fprintf(&plays, "%05d,2014-09-01 00:00:30,5\n", u)
		}
	}
	for name, b := range map[string]*strings.Builder{"login": &logins, "play": &plays, "order": &orders} {
		h.Deliver(t, testworld.File{Name: day.String() + "/" + name + ".csv", Text: []byte(b.String())})
	}
	q := testworld.Query{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"login"}}
	h.Load(t, Turn{Name: "trails", Workers: 2, Memory: 256 << 20, Regions: 3}, q.Span)
	return h, q
}

// These users of every twenty in a crowd differ from the others.
const (
	shortPlay = 7
	latePlay  = 11
	whoOrders = 13
)

// SeveralUsers is the number of users of SeveralParts.
const SeveralUsers = 500

// SeveralParts returns a crowd whose logins make two and a half parts.
func SeveralParts(t *testing.T) (*Fixture, testworld.Query) {
	t.Helper()
	return Crowd(t, SeveralUsers, int(SmallSizes.PartEvents)*5/2/SeveralUsers)
}

// Picky returns q with conditions that keep the users of a crowd who do not differ from the others.
func Picky(q testworld.Query) testworld.Query {
	q.Conditions = testworld.Conditions{
		Where:   testworld.Where{Text: `behaviour == "login" || play.seconds >= 5`},
		Having:  testworld.Having{Text: "count(play) == 1 && sum(play.seconds) > 4"},
		Steps:   []testworld.Step{{Kind: "login"}, {Kind: "play"}, {Kind: "login", Within: time.Minute}},
		Without: []string{"order"},
	}
	return q
}

// CheckFunnel checks the counts of a query of Picky in a manifest.
func CheckFunnel(t *testing.T, text string, users int64) {
	t.Helper()
	var m manifest.Extract
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if m.Found != users || m.Active != users*19/20 || m.Kept != users*17/20 {
		t.Errorf("%d found, %d active, %d kept of %d users", m.Found, m.Active, m.Kept, users)
	}
	if len(m.Sequence) != 3 || m.Sequence[0].Users != users*18/20 || m.Sequence[1].Users != users*18/20 || m.Sequence[2].Users != users*17/20 {
		t.Errorf("of %d users so many took each step: %+v", users, m.Sequence)
	}
}
