package report_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/report"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// An event is one row of a generated extract. It belongs to the person that contains it.
type event struct {
	kind int
	time int64 // µs
}

// A person is a user with their events, in order, and the time of each step.
type person struct {
	user   string
	events []event
	steps  []int64
}

// A made is a generated extract: its query and its parts.
type made struct {
	manifest.Extract
	parts [][]person
}

const hour = int64(3600e6)

var firstDay = behaviour.DateOf(2014, 9, 1)

// sampleZone is the zone of dates in generated extracts: UTC+8.
const sampleZone = "Asia/Shanghai"

const sampleOffset = 8 * hour

// at returns a local time on a day, counted from the first day.
func at(day int, clock int64) int64 {
	return (int64(firstDay)+int64(day))*24*hour - sampleOffset + clock
}

// write writes an extract as extract does, and returns its directory.
func (m *made) write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "extract")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	m.Version, m.Zone = manifest.Version, cmp.Or(m.Zone, sampleZone)
	m.Query.Format = cmp.Or(m.Query.Format, "parquet")
	for i, people := range m.parts {
		m.Parts = append(m.Parts, m.writePart(t, dir, fmt.Sprintf("part-%05d.parquet", i), people))
		m.Kept += m.Parts[i].Users
		m.Events += m.Parts[i].Events
	}
	m.Active, m.Found, m.Users = max(m.Active, m.Kept), max(m.Found, m.Kept), max(m.Users, m.Kept)
	disk := local.New()
	if err := manifest.Write(t.Context(), disk, filepath.Join(dir, "_manifest.json"), &m.Extract); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(dir, "_SUCCESS"), "")
	return dir
}

// writePart writes a part of small row groups and pages, so that the pages of columns end at
// different rows.
func (m *made) writePart(t *testing.T, dir, name string, people []person) manifest.TrailPart {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := trailfile.Long(m.Query.Types, len(m.Sequence), m.Fields)
	w, err := trailfile.NewWriter(f, s, trailfile.Options{GroupRows: 5000, PageBytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	b := trailfile.NewBatch(s)
	for _, p := range people {
		for i, e := range p.events {
			c := b.Columns
			c[0].Str.Append([]byte(p.user))
			c[1].Small = append(c[1].Small, int32((e.time+sampleOffset)/(24*hour)))
			c[2].Int = append(c[2].Int, e.time)
			c[3].Code = append(c[3].Code, uint16(e.kind))
			c[4].Int = append(c[4].Int, int64(i))
			for j, step := range p.steps {
				c[5+j].Int = append(c[5+j].Int, step)
			}
			b.Rows++
		}
	}
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	meta, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return manifest.TrailPart{Name: name, Users: int64(len(people)), Events: meta.Rows, Size: meta.Bytes}
}

// crowd generates people with the events of viewers: most have few and a few have very many, in the
// evening and on some days, one after another.
func crowd(seed uint64, users, days, kinds, parts, steps int) [][]person {
	r := rand.New(rand.NewPCG(seed, 1))
	var all []person
	for i := range users {
		p := person{user: fmt.Sprintf("%010d", r.IntN(1e9))}
		if i%50 == 7 {
			p.user = fmt.Sprintf("用户<%d>&\"é", i)
		}
		n := 1 + int(r.ExpFloat64()*r.ExpFloat64()*12)
		for range n {
			day := r.IntN(days)
			if r.IntN(3) == 0 {
				day = day / 7 * 7
			}
			for k := r.IntN(kinds); k < kinds; k += 1 + r.IntN(kinds) {
				p.events = append(p.events, event{k, at(min(day, days-1), int64(float64(24*hour)*min(0.999, max(0, 0.8+r.NormFloat64()/8)))) + int64(k)*7e6})
			}
		}
		slices.SortFunc(p.events, func(a, b event) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.kind, b.kind)) })
		step := p.events[0].time
		for range steps {
			p.steps = append(p.steps, step)
			step += int64(float64(r.IntN(int(6*hour))) * r.ExpFloat64())
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b person) int { return cmp.Compare(a.user, b.user) })
	all = slices.CompactFunc(all, func(a, b person) bool { return a.user == b.user })
	out := make([][]person, parts)
	for _, p := range all {
		i := int(p.user[len(p.user)-1]) % parts
		out[i] = append(out[i], p)
	}
	return out
}

// evenings returns an extract of ten days with a sequence.
func evenings() *made {
	m := &made{parts: crowd(1, 3000, 10, 4, 3, 3)}
	m.Table = "hdfs://nameservice1/trails"
	m.Users, m.Found, m.Active = 5000, 4200, 3600
	m.Query = manifest.Query{
		Span: behaviour.Span{From: firstDay, To: firstDay + 9}, Types: []string{"visit", "play", "order", "login"}, Active: "min:2", Users: "0123",
		Where: "play.seconds >= 600 || order.price > 0", Sequence: "visit -> play within 1h -> order within 1d",
	}
	m.Sequence = []manifest.Step{
		{Behaviour: "visit", Users: 3600}, {Behaviour: "play", Within: "1h0m0s", Users: 3300}, {Behaviour: "order", Within: "24h0m0s", Users: 3000},
	}
	return m
}

// busyYear returns an extract of a year with more behaviours than a table of the page has.
func busyYear() *made {
	m := &made{parts: crowd(2, 800, 365, 20, 2, 0)}
	m.Table = "trails"
	m.Query = manifest.Query{Span: behaviour.Span{From: firstDay, To: firstDay + 364}, Active: "any", Users: "all"}
	for i := range 20 {
		m.Query.Types = append(m.Query.Types, fmt.Sprintf("behaviour_%02d", i))
	}
	return m
}

// nothing returns an extract without users.
func nothing() *made {
	m := &made{}
	m.Table = "trails"
	m.Users = 12
	m.Query = manifest.Query{Span: behaviour.Span{From: firstDay, To: firstDay}, Types: []string{"play"}, Active: "all", Users: "0123"}
	return m
}

func makeReport(t *testing.T, dir string, workers int) *report.Report {
	t.Helper()
	r, err := report.Make(t.Context(), report.Config{FS: local.New(), Dir: dir, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
