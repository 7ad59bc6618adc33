package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"usertrail/internal/test/testkit"
)

// A countedQuery is a query about all users, and its result.
type countedQuery struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Types  []string `json:"types"`
	Active string   `json:"active"`

	Found  int64 `json:"found"`
	Users  int64 `json:"active_users"`
	Events int64 `json:"events"`
}

func (q countedQuery) String() string {
	return fmt.Sprint(q.From, "..", q.To, " ", q.Types, " ", q.Active)
}

var (
	journeyTypes = []string{"purchase", "coupon_redeemed", "campaign_received"}
	launchTypes  = []string{"gameStarted", "newPlayer"}
)

// A real is a real data set, which is loaded once for all tests.
type real struct {
	job, written, logs string
	from, to           string
	records            int64

	once  sync.Once
	table string
}

var (
	journey = &real{job: "journey.yaml", written: "../../shared/data/logs/journey", logs: "journey", from: "2016-11-14", to: "2017-12-31", records: 75_000 + 2_102 + 6_589}
	launch  = &real{job: "launch.yaml", written: "../../shared/data/logs/launch", logs: "launch", from: "2016-04-27", to: "2016-05-27", records: 25_222 + 4_102}
)

// load returns the folder of the table.
func (r *real) load(t *testing.T) string {
	t.Helper()
	r.once.Do(func() {
		dir := filepath.Join(testkit.Home(), r.logs)
		got := loadJob(t, r.job, r.written, filepath.Join(testkit.Shared(t, "data/logs"), r.logs), dir, span(t, r.from, r.to))
		if got.Read != r.records || got.Loaded != r.records {
			t.Errorf("%s: loaded %d of %d records, want all %d", r.logs, got.Loaded, got.Read, r.records)
		}
		r.table = dir
	})
	if r.table == "" {
		t.Fatalf("%s could not be loaded", r.logs)
	}
	return r.table
}

func TestMain(m *testing.M) { testkit.Main(m) }

// holds runs the queries and compares the results.
func holds(t *testing.T, r *real, queries []countedQuery) {
	t.Helper()
	table := r.load(t)
	for _, q := range queries {
		got := extractAll(t, table, filepath.Join(t.TempDir(), "out"), span(t, q.From, q.To), q.Types, q.Active)
		if got.Found != q.Found || got.Active != q.Users || got.Events != q.Events {
			t.Errorf("%s %v: found %d, active %d, %d behaviours; want %d, %d, %d", r.logs, q, got.Found, got.Active, got.Events, q.Found, q.Users, q.Events)
		}
	}
}

// TestJourney and TestLaunch compare with the numbers that came with the data.
func TestJourney(t *testing.T) {
	holds(t, journey, []countedQuery{
		{"2016-11-14", "2017-12-31", journeyTypes, "all", 2379, 410, 30_074},
		{"2017-03-01", "2017-03-31", journeyTypes, "all", 1541, 12, 108},
		{"2017-01-01", "2017-12-31", journeyTypes, "min:2", 2379, 1544, 74_683},
	})
}

func TestLaunch(t *testing.T) {
	holds(t, launch, []countedQuery{{"2016-05-01", "2016-05-10", launchTypes, "all", 2702, 2003, 8_713}})
}

// TestDuckDBCountsTheSame uses DuckDB, over the delivered files, for numbers that did not
// come with the data.
func TestDuckDBCountsTheSame(t *testing.T) {
	for _, c := range []struct {
		real    *real
		queries []countedQuery
	}{
		{journey, []countedQuery{
			{From: "2017-05-05", To: "2017-05-05", Types: journeyTypes, Active: "any"},
			{From: "2017-02-01", To: "2017-04-30", Types: journeyTypes, Active: "min:2"},
			{From: "2016-11-14", To: "2017-12-31", Types: []string{"purchase", "coupon_redeemed"}, Active: "all"},
			{From: "2017-03-12", To: "2017-03-13", Types: []string{"purchase"}, Active: "all"}, // clocks change
			{From: "2017-11-05", To: "2017-11-05", Types: []string{"purchase"}, Active: "all"},
			{From: "2018-01-01", To: "2018-12-31", Types: journeyTypes, Active: "any"},
		}},
		{launch, []countedQuery{
			{From: "2016-04-27", To: "2016-05-27", Types: launchTypes, Active: "all"},
			{From: "2016-05-27", To: "2016-05-27", Types: launchTypes, Active: "any"},
			{From: "2016-05-03", To: "2016-05-04", Types: []string{"newPlayer"}, Active: "all"},
		}},
	} {
		asked, err := json.Marshal(c.queries)
		if err != nil {
			t.Fatal(err)
		}
		var results []countedQuery
		python(t, &results, "counts.py", c.real.logs, filepath.Join(testkit.Shared(t, "data/logs"), c.real.logs), string(asked))
		if len(results) != len(c.queries) {
			t.Fatalf("DuckDB has results for %d of %d queries", len(results), len(c.queries))
		}
		holds(t, c.real, results)
	}
}
