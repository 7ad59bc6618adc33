package load_test

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
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/trail"
)

// A fixture is a directory with logs, a job and its table.
type fixture struct {
	t     *testing.T
	dir   string
	store files.Store
	job   *job.Job
}

// twoKinds is a job of a play and an order, in files of their own.
const twoKinds = `
logs:
  path: logs/{date}/{behaviour}.*
  max_bad: 50%
user: user
behaviours:
  play: {id: 1, fields: {title: string, seconds: int64}}
  order: {id: 2, fields: {price: double}}
`

func newFixture(t *testing.T, text string) *fixture {
	t.Helper()
	dir := testkit.Scratch(t)
	y := &fixture{t: t, dir: dir, store: files.Store{FS: local.New(), Dir: filepath.Join(dir, "trails")}}
	y.is(text)
	return y
}

// is makes text the fixture's job.
func (y *fixture) is(text string) {
	y.t.Helper()
	var err error
	if y.job, err = job.Parse(filepath.Join(y.dir, "job.yaml"), []byte(text)); err != nil {
		y.t.Fatal(err)
	}
}

// write writes a file below logs.
func (y *fixture) write(name, text string) {
	y.t.Helper()
	name = filepath.Join(y.dir, "logs", name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

func zipped(t *testing.T, text string) string {
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

func date(t *testing.T, s string) behaviour.Date {
	t.Helper()
	d, err := behaviour.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (y *fixture) config(from, to string, types ...string) load.Config {
	y.t.Helper()
	return load.Config{
		Resources: bulkload.Resources{FS: y.store.FS, Store: y.store, Workers: 2, Memory: 8 << 20, Temp: dfs.Join(y.store.Dir, catalog.TempName)},
		Job:       y.job, Types: types, Span: behaviour.Span{From: date(y.t, from), To: date(y.t, to)},
	}
}

// replayOf is the replay with the resources and the job of a load.
func replayOf(c load.Config) replay.Config {
	return replay.Config{Resources: c.Resources, Job: c.Job, Mode: c.Mode}
}

// load loads days, and wants the error that is given, if any.
func (y *fixture) load(want error, from, to string, types ...string) bulkload.Result {
	y.t.Helper()
	r, err := load.Run(y.t.Context(), y.config(from, to, types...))
	if !errors.Is(err, want) {
		y.t.Fatalf("load of %s..%s %v: %v, want %v", from, to, types, err, want)
	}
	if err := r.Check(); err != nil {
		y.t.Error(err)
	}
	return r
}

// replay replays a quarantine file, by the delivered file's name.
func (y *fixture) replay(want error, name string) bulkload.Result {
	y.t.Helper()
	r, err := replay.Run(y.t.Context(), replayOf(y.config("2014-09-01", "2014-09-30")), y.store.Quarantine(name))
	if !errors.Is(err, want) {
		y.t.Fatalf("replay of %s: %v, want %v", name, err, want)
	}
	if err := r.Check(); err != nil {
		y.t.Error(err)
	}
	return r
}

// wantCounts compares what became of records: read, loaded, quarantined,
// duplicate, skipped.
func (y *fixture) wantCounts(r bulkload.Result, read, loaded, quarantined, duplicate, skipped int64) {
	y.t.Helper()
	want := manifest.Counts{Read: read, Loaded: loaded, Quarantined: quarantined, Duplicate: duplicate, Skipped: skipped, Skips: r.Skips}
	if r.Counts != want || r.Skips.Sum() != skipped {
		y.t.Errorf("counts are %+v, want %+v", r.Counts, want)
	}
}

// ledgers are the delivered files that the table knows, by load.
func (y *fixture) ledgers() []*manifest.Load {
	y.t.Helper()
	t, err := y.store.Open(y.t.Context())
	if err != nil {
		y.t.Fatal(err)
	}
	defer t.Close()
	loads, err := t.Ledgers(y.t.Context())
	if err != nil {
		y.t.Fatal(err)
	}
	return loads
}

// trails are all that the table holds, a line for each behaviour: user, date,
// time, behaviour, values. With ids, the column ID comes too.
func (y *fixture) trails(ids bool) []string {
	y.t.Helper()
	ctx := y.t.Context()
	t, err := y.store.Open(ctx)
	if err != nil {
		y.t.Fatal(err)
	}
	defer t.Close()
	info := t.Info()
	users, err := t.Users(ctx, split.Region{}, behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate})
	if err != nil {
		y.t.Fatal(err)
	}
	p := &fetch.Batch{Keys: new(fetch.Keys)}
	for users.Next() {
		p.Keys.Add(users.User().Key, true)
	}
	if err := users.Err(); err != nil {
		y.t.Fatal(err)
	}
	want := layout.Want{Span: behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}}
	for k := range info.Schema.Kinds {
		want.Kinds = append(want.Kinds, k)
	}
	asker, err := fetch.NewAsker(t, fetch.Config{Schema: info.Schema, Layout: info.Layout, Want: want})
	if err != nil {
		y.t.Fatal(err)
	}
	tr, err := asker.Trails(ctx, p.Keys)
	if err != nil {
		y.t.Fatal(err)
	}
	defer tr.Release()
	var out []string
	for i := range tr.Batch.Events {
		out = append(out, y.line(info, tr, &tr.Batch.Events[i], ids))
	}
	slices.Sort(out)
	return out
}

func (y *fixture) line(info table.Info, tr *fetch.Trails, e *trail.Event, ids bool) string {
	y.t.Helper()
	k := info.Schema.Kinds[e.Kind]
	user, err := info.Layout.AppendUser(nil, tr.Keys.At(int(e.User)))
	if err != nil {
		y.t.Error(err)
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

// wantTrails compares what the table holds.
func (y *fixture) wantTrails(want ...string) {
	y.t.Helper()
	slices.Sort(want)
	if got := y.trails(false); !slices.Equal(got, want) {
		y.t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// quarantined is the quarantine file of a delivered file, empty if there is none.
func (y *fixture) quarantined(name string) string {
	y.t.Helper()
	b, err := os.ReadFile(y.store.Quarantine(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		y.t.Fatal(err)
	}
	return string(b)
}

// correct edits a quarantine file.
func (y *fixture) correct(name, from, to string) {
	y.t.Helper()
	text := y.quarantined(name)
	if !strings.Contains(text, from) {
		y.t.Fatalf("%q does not stand in the quarantine of %s:\n%s", from, name, text)
	}
	if err := os.WriteFile(y.store.Quarantine(name), []byte(strings.ReplaceAll(text, from, to)), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

// cancelled is a context that has ended.
func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
