package bulkloadtest

import (
	"maps"
	"path/filepath"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
)

// A Said is what a table knows about one user.
type Said struct {
	Did  activity.Set
	Sure bool
}

// Users returns the users that the table names for the dates from one date to another, by key.
func (p *HBase) Users(from, to string) map[string]Said {
	p.T.Helper()
	t, done := p.Open()
	defer done()
	users, err := t.Users(p.T.Context(), split.Region{}, behaviour.Span{From: Date(p.T, from), To: Date(p.T, to)})
	if err != nil {
		p.T.Fatal(err)
	}
	defer users.Close()
	out := map[string]Said{}
	for users.Next() {
		u := users.User()
		out[string(u.Key)] = Said{u.Did, u.Sure}
	}
	if err := users.Err(); err != nil {
		p.T.Fatal(err)
	}
	return out
}

// ByRolls reports whether the table reads users from rolls. Without rolls, it names users that it does
// not have.
func (p *HBase) ByRolls() bool {
	p.T.Helper()
	t, done := p.Open()
	defer done()
	users, err := t.Users(p.T.Context(), split.Region{}, behaviour.Span{From: Date(p.T, "2014-09-01"), To: Date(p.T, "2014-09-30")})
	if err != nil {
		p.T.Fatal(err)
	}
	defer users.Close()
	return !users.SeekGE([]byte("zzz,"))
}

// Rows returns the behaviours of each user for the dates from one date to another, according to the
// rows in HBase.
func (p *HBase) Rows(from, to string) map[string]activity.Set {
	p.T.Helper()
	span := behaviour.Span{From: Date(p.T, from), To: Date(p.T, to)}
	out := map[string]activity.Set{}
	teller := layout.Reversed{}.Teller(p.Job.Schema)
	for _, c := range p.Cluster.Cells(TrailsTable) {
		told, ok := teller.Tell(c)
		if !ok {
			p.T.Fatalf("row %q", c.Row)
		}
		if span.Has(told.Date) {
			key := string(layout.Reversed{}.UserKey(c.Row))
			out[key] = out[key].Or(activity.Of(told.Kind))
		}
	}
	return out
}

// NamesAll fails the test unless the table names all users with rows, and all their behaviours.
func (p *HBase) NamesAll(when string) {
	p.T.Helper()
	got := p.Users("2014-08-01", "2014-09-30")
	want := p.Rows("2014-08-01", "2014-09-30")
	if len(want) == 0 {
		p.T.Fatalf("%s: the table has no rows", when)
	}
	for key, did := range want {
		if got[key].Did.And(did) != did {
			p.T.Errorf("%s: user %q has rows of the behaviours %v, the table names %v", when, key, did, got[key].Did)
		}
	}
}

// Extracts fails the test unless extracts with rolls and without rolls have equal parts.
func (p *HBase) Extracts(when string) {
	p.T.Helper()
	opened, done := p.Open()
	defer done()
	for _, active := range []string{"any", "all"} {
		var results []map[string]string
		for _, from := range []table.Table{opened, table.Unrolled(opened)} {
			out := filepath.Join(p.T.TempDir(), "out")
			r, err := extract.Run(p.T.Context(), extract.Config{
				Spec:   query.Spec{Users: userlist.All(), Span: behaviour.Span{From: Date(p.T, "2014-09-01"), To: Date(p.T, "2014-09-30")}, Types: []string{"play", "order"}, Active: active},
				Target: place.Target{FS: local.New(), Out: out},
				Table:  from, Workers: 2, Progress: progress.Config{Quiet: true},
			})
			if err != nil || r.Events == 0 {
				p.T.Fatalf("%s: extract: %+v, %v", when, r, err)
			}
			parts := dfstest.Snapshot(p.T, local.New(), out)
			delete(parts, place.ManifestName) // it has the cost
			results = append(results, parts)
		}
		if !maps.Equal(results[0], results[1]) {
			p.T.Errorf("%s: --active %s: the results with rolls and without rolls differ", when, active)
		}
	}
}

// WantEvents extracts the table into the directory out, and compares the number of events.
func (p *HBase) WantEvents(out string, want int64) {
	p.T.Helper()
	r, err := extract.Run(p.T.Context(), p.Asking(p.Visit(), out))
	if err != nil || r.Events != want {
		p.T.Errorf("an extract has %d events, %v; want %d", r.Events, err, want)
	}
}

// Asking returns the configuration of an extract of a whole table into the directory out.
func (p *HBase) Asking(of table.Table, out string) extract.Config {
	return extract.Config{
		Spec:   query.Spec{Users: userlist.All(), Span: behaviour.Span{From: Date(p.T, "2014-09-01"), To: Date(p.T, SecondDay)}, Types: []string{"play", "order"}, Active: "any"},
		Target: place.Target{FS: local.New(), Out: filepath.Join(p.Dir, out)},
		Table:  of, Workers: 1,
	}
}

// SecondDay is the last date of the logs of NewHBase.
const SecondDay = "2014-09-02"

// Visit opens the table. It is closed at the end of the test.
func (p *HBase) Visit() *live.Table {
	p.T.Helper()
	store := p.Connect(local.New())
	p.T.Cleanup(func() { store.Close() })
	opened, err := store.Open(p.T.Context())
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() { opened.Close() })
	return opened.(*live.Table)
}
