package bulkloadtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/trail"
)

// A Fixture is a directory with logs, a job and the table of the job.
type Fixture struct {
	testtable.Fixture
	T     *testing.T
	Store files.Store
}

// TwoKinds is a job with two behaviours. Each behaviour has files of its own.
const TwoKinds = `
logs:
  path: logs/{date}/{behaviour}.*
  max_bad: 50%
user: user
behaviours:
  play: {id: 1, fields: {title: string, seconds: int64}}
  order: {id: 2, fields: {price: double}}
`

// New returns a fixture without logs. text is its job file.
func New(t *testing.T, text string) *Fixture {
	t.Helper()
	y := &Fixture{Fixture: *testtable.New(t, text), T: t}
	y.Store = y.Fixture.Store("trails")
	return y
}

// SetJob makes text the fixture's job.
func (y *Fixture) SetJob(text string) {
	y.T.Helper()
	y.Fixture.SetJob(y.T, text)
}

// Write writes a file below logs.
func (y *Fixture) Write(name, text string) {
	y.T.Helper()
	testkit.WriteFile(y.T, filepath.Join(y.Dir, "logs", name), text)
}

// Zipped returns text compressed by gzip.
func Zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Date parses a date.
func Date(t *testing.T, s string) behaviour.Date {
	t.Helper()
	d, err := behaviour.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Config returns the configuration of a load of the days from one date to another.
func (y *Fixture) Config(from, to string, types ...string) load.Config {
	y.T.Helper()
	c := y.LoadConfig(dfs.Base(y.Store.Dir), behaviour.Span{From: Date(y.T, from), To: Date(y.T, to)})
	c.FS, c.Store, c.Types = y.Store.FS, y.Store, types
	return c
}

// ReplayOf returns the configuration of a replay with the resources and the job of a load.
func ReplayOf(c load.Config) replay.Config {
	return replay.Config{Resources: c.Resources, Job: c.Job, Mode: c.Mode}
}

// Load loads days. want is the error that the load must end with, or nil.
func (y *Fixture) Load(want error, from, to string, types ...string) bulkload.Result {
	y.T.Helper()
	r, err := load.Run(y.T.Context(), y.Config(from, to, types...))
	if !errors.Is(err, want) {
		y.T.Fatalf("load of %s..%s %v: %v, want %v", from, to, types, err, want)
	}
	if err := r.Check(); err != nil {
		y.T.Error(err)
	}
	return r
}

// Replay replays the quarantine file of the delivered file called name. want is the error that the
// replay must end with, or nil.
func (y *Fixture) Replay(want error, name string) bulkload.Result {
	y.T.Helper()
	r, err := replay.Run(y.T.Context(), ReplayOf(y.Config("2014-09-01", "2014-09-30")), y.Store.Quarantine(name))
	if !errors.Is(err, want) {
		y.T.Fatalf("replay of %s: %v, want %v", name, err, want)
	}
	if err := r.Check(); err != nil {
		y.T.Error(err)
	}
	return r
}

// WantCounts compares the counts of records in a result.
func (y *Fixture) WantCounts(r bulkload.Result, read, loaded, quarantined, duplicate, skipped int64) {
	y.T.Helper()
	want := manifest.Counts{Read: read, Loaded: loaded, Quarantined: quarantined, Duplicate: duplicate, Skipped: skipped, Skips: r.Skips}
	if r.Counts != want || r.Skips.Sum() != skipped {
		y.T.Errorf("counts are %+v, want %+v", r.Counts, want)
	}
}

// Ledgers returns the ledgers of the table.
func (y *Fixture) Ledgers() []*manifest.Load {
	y.T.Helper()
	t, err := y.Store.Open(y.T.Context())
	if err != nil {
		y.T.Fatal(err)
	}
	defer t.Close()
	loads, err := table.Ledgers(y.T.Context(), t)
	if err != nil {
		y.T.Fatal(err)
	}
	return loads
}

// Trails returns the events of the table as sorted lines: user, date, time, behaviour, values. If ids
// is set, a line has the column ID too.
func (y *Fixture) Trails(ids bool) []string {
	y.T.Helper()
	ctx := y.T.Context()
	t, err := y.Store.Open(ctx)
	if err != nil {
		y.T.Fatal(err)
	}
	defer t.Close()
	info := t.Info()
	users, err := t.Users(ctx, split.Region{}, behaviour.AllDays)
	if err != nil {
		y.T.Fatal(err)
	}
	p := &fetch.Batch{Keys: new(fetch.Keys)}
	for users.Next() {
		p.Keys.Add(users.User().Key, true)
	}
	if err := users.Err(); err != nil {
		y.T.Fatal(err)
	}
	want := layout.Want{Span: behaviour.AllDays}
	for k := range info.Schema.Kinds {
		want.Kinds = append(want.Kinds, k)
	}
	asker, err := fetch.NewAsker(t, fetch.Config{Schema: info.Schema, Layout: info.Layout, Want: want})
	if err != nil {
		y.T.Fatal(err)
	}
	tr, err := asker.Trails(ctx, p.Keys)
	if err != nil {
		y.T.Fatal(err)
	}
	defer tr.Release()
	var out []string
	for i := range tr.Batch.Events {
		out = append(out, y.line(info, tr, &tr.Batch.Events[i], ids))
	}
	slices.Sort(out)
	return out
}

// line returns an event as a line of Trails.
func (y *Fixture) line(info table.Info, tr *fetch.Trails, e *trail.Event, ids bool) string {
	y.T.Helper()
	k := info.Schema.Kinds[e.Kind]
	user, err := info.Layout.AppendUser(nil, tr.Keys.At(int(e.User)))
	if err != nil {
		y.T.Error(err)
	}
	words := []string{
		string(user), behaviour.Date(e.Date).String(),
		behaviour.Timestamp.Text(behaviour.AppendInt64(nil, e.Time)), k.Name,
	}
	if ids {
		words = append(words, fmt.Sprint(e.ID))
	}
	for i, f := range k.Fields {
		if v := tr.Batch.Value(tr.Batch.Refs[int(e.Refs)+i]); v != nil {
			words = append(words, f.Name+"="+f.Type.Text(v))
		}
	}
	return strings.Join(words, " ")
}

// WantTrails compares the events of the table with lines of Trails.
func (y *Fixture) WantTrails(want ...string) {
	y.T.Helper()
	slices.Sort(want)
	if got := y.Trails(false); !slices.Equal(got, want) {
		y.T.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Quarantined returns the text of the quarantine file of a delivered file. It returns "" if the file
// does not exist.
func (y *Fixture) Quarantined(name string) string {
	y.T.Helper()
	b, err := os.ReadFile(y.Store.Quarantine(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		y.T.Fatal(err)
	}
	return string(b)
}

// Correct replaces text in the quarantine file of the delivered file called name.
func (y *Fixture) Correct(name, from, to string) {
	y.T.Helper()
	text := y.Quarantined(name)
	if !strings.Contains(text, from) {
		y.T.Fatalf("%q is not in the quarantine of %s:\n%s", from, name, text)
	}
	if err := os.WriteFile(y.Store.Quarantine(name), []byte(strings.ReplaceAll(text, from, to)), 0o644); err != nil {
		y.T.Fatal(err)
	}
}

// Cancelled returns a context that is cancelled.
func Cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Upkeep returns the upkeep of the table. If all is set, it merges all files, in the least memory.
func (y *Fixture) Upkeep(all bool) upkeep.Config {
	c := upkeep.Config{FS: y.Store.FS, Store: y.Store, KeepFor: upkeep.DefaultKeepFor, All: all}
	if all {
		c.Memory = upkeep.MinMemory
	}
	return c
}

// Drop drops the days before a date, also if they are all days of the table.
func (y *Fixture) Drop(before string) {
	y.T.Helper()
	if _, err := upkeep.Drop(y.T.Context(), y.Upkeep(true), Date(y.T, before)); err != nil {
		y.T.Fatal(err)
	}
}

// Undrop restores the days of the last drop.
func (y *Fixture) Undrop() {
	y.T.Helper()
	if _, err := upkeep.Undrop(y.T.Context(), y.Upkeep(true)); err != nil {
		y.T.Fatal(err)
	}
}
