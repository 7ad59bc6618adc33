package output_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/store/dfs"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// outputs are all that a result in a directory can look like.
func outputs() []query.Output {
	var all []query.Output
	for _, f := range query.Formats {
		all = append(all, query.Output{Format: f}, query.Output{Format: f, Shape: trailfile.WideShape}, query.Output{Format: f, Times: query.Local}, query.Output{Format: f, Shape: trailfile.WideShape, Times: query.Local})
		for _, p := range query.Partitions {
			all = append(all, query.Output{Format: f, Partition: p})
		}
	}
	return all
}

// resultIn extracts a result that looks like o.
func resultIn(t *testing.T, h *extracttest.Fixture, q testworld.Query, o query.Output) (extract.Result, string) {
	t.Helper()
	out, u := filepath.Join(testkit.Scratch(t), "out"), extracttest.Plain
	u.Output = o
	r, err := h.Extract(t.Context(), q, u, out)
	if err != nil {
		t.Fatalf("extract %+v as %+v: %v", q, o, err)
	}
	return r, out
}

// TestEveryOutputIsTheOracles queries worlds, with conditions and without, and reads the result
// in every shape it can have.
func TestEveryOutputIsTheOracles(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2) {
		w := testworld.World(seed, 30)
		h := extracttest.Delivered(t, w)
		h.Load(t, extracttest.Plain, w.Span)
		r := rand.New(rand.NewPCG(seed, 7))
		for i, q := range w.Queries(seed, 6) {
			if i%2 == 1 {
				w.Narrow(r, &q)
			}
			for _, o := range outputs() {
				what := fmt.Sprintf("world %d, query %d, %+v, %+v", seed, i, q, o)
				if o.Shape == trailfile.WideShape {
					q.Conditions.Fields = nil
					checkWide(t, what, h, w, q, o)
					continue
				}
				want := w.Oracle(q)
				if o.Format == query.CSV {
					want.Rows = lineFeeds(want.Rows)
				}
				result, out := resultIn(t, h, q, o)
				got := testworld.Result{Users: int(result.Users), Found: int(result.Found), Active: int(result.Active), Rows: readOutput(t, h.FS, out, w.Names())}
				if o.Times == query.Local {
					checkLocal(t, what, h, out, got.Rows)
				}
				extracttest.Same(t, what, got, want)
			}
		}
	}
}

// checkLocal compares the local times of rows with their times in UTC, and removes them from the rows.
func checkLocal(t *testing.T, what string, h *extracttest.Fixture, out string, rows []testworld.Row) {
	t.Helper()
	zone, err := time.LoadLocation(extracttest.ReadManifest(t, h.FS, out).Zone)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		local := instant(t, r.Time).In(zone)
		want := []string{local.Format("2006-01-02T15:04:05.000000"), local.Format("-07:00")}
		wall, err := time.Parse("2006-01-02T15:04:05", r.Values["local_time"])
		if got := []string{wall.Format("2006-01-02T15:04:05.000000"), r.Values["utc_offset"]}; err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: the local time of %s is %q (%v), want %q", what, r.Time, got, err, want)
		}
		if r.Date != r.Values["local_time"][:10] {
			t.Fatalf("%s: the local time %s is not of the date %s", what, r.Values["local_time"], r.Date)
		}
		delete(r.Values, "local_time")
		delete(r.Values, "utc_offset")
	}
}

// lineFeeds are rows as encoding/csv reads them. It removes a carriage return before the end of
// a line, also if the line ends inside quotes.
func lineFeeds(rows []testworld.Row) []testworld.Row {
	for i := range rows {
		rows[i].Values = maps.Clone(rows[i].Values)
		for name, v := range rows[i].Values {
			rows[i].Values[name] = strings.ReplaceAll(v, "\r\n", "\n")
		}
	}
	return rows
}

// readOutput reads the files that a result's manifest names, in the order of the
// rows' users, times, behaviours and IDs.
func readOutput(t *testing.T, fs dfs.FS, out string, kinds []string) []testworld.Row {
	t.Helper()
	m := extracttest.ReadManifest(t, fs, out)
	type timed struct {
		testworld.Row
		at time.Time
	}
	var all []timed
	for _, p := range m.Parts {
		lines := readLines(t, fs, dfs.Join(out, p.Name), m)
		if int64(len(lines)) != p.Events {
			t.Errorf("%s has %d rows, the manifest says %d", p.Name, len(lines), p.Events)
		}
		for _, line := range lines {
			id, err := strconv.ParseInt(line["id"], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			row := testworld.Row{User: line["user_id"], Date: line["date"], Time: line["time"], Behaviour: line["behaviour"], ID: id, Values: line}
			for _, name := range behaviour.Reserved {
				delete(line, name)
			}
			all = append(all, timed{row, instant(t, row.Time)})
		}
	}
	slices.SortFunc(all, func(a, b timed) int {
		if c := strings.Compare(a.User, b.User); c != 0 {
			return c
		}
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Behaviour), slices.Index(kinds, b.Behaviour)), cmp.Compare(a.ID, b.ID))
	})
	rows := make([]testworld.Row, len(all))
	for i := range all {
		rows[i] = all[i].Row
	}
	return rows
}

// instant is called for each row, and Helper is slow.
func instant(t *testing.T, s string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
	return at
}

// readLines reads a file, and the column in the name of its directory. Values are as the oracle
// writes them. Values that are null or empty are left out.
func readLines(t *testing.T, fs dfs.FS, name string, m *manifest.Extract) []map[string]string {
	t.Helper()
	f, err := fs.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if strings.HasSuffix(name, ".jsonl") && f.Size() == 0 {
		return nil
	}
	var in interface {
		Info() (trailfile.Info, error)
		Head(n int) ([][]string, error)
	}
	switch filepath.Ext(name) {
	case ".csv":
		in, err = textfile.Open(f, f.Size(), textfile.CSV)
	case ".jsonl":
		in, err = textfile.Open(f, f.Size(), textfile.JSON)
	case ".arrow":
		in, err = arrowfile.Open(f, f.Size())
	default:
		in, err = trailfile.Open(f, f.Size())
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	info, err := in.Info()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	rows, err := in.Head(int(info.Rows))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	partition, value, _ := strings.Cut(dfs.Base(dfs.Dir(name)), "=")
	var lines []map[string]string
	for _, row := range rows {
		line := map[string]string{}
		for i, c := range info.Columns {
			at := slices.IndexFunc(m.Columns, func(f behaviour.Field) bool { return f.Name == c.Name })
			if at < 0 {
				t.Fatalf("%s: column %s is not in the manifest", name, c.Name)
			}
			if row[i] != "" {
				if line[c.Name] = row[i]; !trailfile.Shape(cmp.Or(m.Query.Shape, "long")).IsLocal(c.Name) {
					line[c.Name] = oracleText(t, m.Columns[at].Type, row[i])
				}
			}
		}
		if value != "" {
			line[partition] = value
		}
		if len(info.Columns) > len(m.Columns) || value == "" && len(info.Columns) != len(m.Columns) {
			t.Fatalf("%s has %d columns, the manifest %d", name, len(info.Columns), len(m.Columns))
		}
		lines = append(lines, line)
	}
	return lines
}

func oracleText(t *testing.T, typ behaviour.Type, s string) string {
	switch typ {
	case behaviour.Double:
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case behaviour.Timestamp:
		return instant(t, s).Format("2006-01-02T15:04:05.999999Z")
	}
	return s
}

// checkWide compares a result of one row a user with what plain loops make of the
// oracle's rows.
func checkWide(t *testing.T, what string, h *extracttest.Fixture, w *testworld.W, q testworld.Query, o query.Output) {
	t.Helper()
	_, out := resultIn(t, h, q, o)
	m := extracttest.ReadManifest(t, h.FS, out)
	got := map[string]map[string]string{}
	for _, p := range m.Parts {
		for _, line := range readLines(t, h.FS, dfs.Join(out, p.Name), m) {
			if got[line["user_id"]] != nil {
				t.Fatalf("%s: user %q occurs twice", what, line["user_id"])
			}
			got[line["user_id"]] = line
		}
	}
	want := wideOf(w.Oracle(q).Rows, m.Query.Types)
	if o.Times == query.Local {
		checkLocalWide(t, what, m, got)
	}
	if int64(len(want)) != m.Kept {
		t.Errorf("%s: kept %d, want %d", what, m.Kept, len(want))
	}
	if !maps.EqualFunc(got, want, maps.Equal[map[string]string, map[string]string]) {
		t.Fatalf("%s: got\n%v, want\n%v", what, got, want)
	}
}

// checkLocalWide compares the local times of wide rows with their times in UTC, and removes them from the rows.
func checkLocalWide(t *testing.T, what string, m *manifest.Extract, rows map[string]map[string]string) {
	t.Helper()
	zone, err := time.LoadLocation(m.Zone)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range rows {
		for _, kind := range m.Query.Types {
			for _, name := range []string{kind + "_first", kind + "_last"} {
				local, utc := line[name+"_local"], line[name]
				delete(line, name+"_local")
				if utc == "" && local == "" {
					continue
				}
				wall, err := time.Parse("2006-01-02T15:04:05", local)
				if want := instant(t, utc).In(zone).Format("2006-01-02T15:04:05.000000"); err != nil || wall.Format("2006-01-02T15:04:05.000000") != want {
					t.Fatalf("%s: the local time of %s is %q (%v), want %s", what, utc, local, err, want)
				}
			}
		}
	}
}

func wideOf(rows []testworld.Row, kinds []string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, r := range rows {
		line := out[r.User]
		if line == nil {
			line = map[string]string{"user_id": r.User}
			for _, k := range kinds {
				count, days, first, last := 0, map[string]bool{}, "", ""
				for _, o := range rows {
					if o.User != r.User || o.Behaviour != k {
						continue
					}
					count++
					days[o.Date] = true
					if first == "" {
						first = o.Time
					}
					last = o.Time
				}
				line[k+"_count"], line[k+"_days"] = strconv.Itoa(count), strconv.Itoa(len(days))
				if count > 0 {
					line[k+"_first"], line[k+"_last"] = first, last
				}
			}
			out[r.User] = line
		}
		for name, v := range r.Values {
			if strings.HasPrefix(name, "step_") {
				line[name] = v
			}
		}
	}
	return out
}

// TestEveryOutputHasTheSameBytes from tables and by workers that must not matter.
func TestEveryOutputHasTheSameBytes(t *testing.T) {
	w := testworld.World(7, 60)
	h := extracttest.Delivered(t, w)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	turns := []extracttest.Turn{
		{Name: "plain", Workers: 1, Memory: 1 << 30, Regions: 1},
		{Name: "regions", Workers: 8, Memory: 1 << 30, Regions: 9},
	}
	for _, u := range turns {
		h.Load(t, u, w.Span)
	}
	for _, o := range outputs() {
		var want map[string]string
		for _, u := range turns {
			u.Output = o
			out := filepath.Join(testkit.Scratch(t), "out")
			if _, err := h.Extract(t.Context(), q, u, out); err != nil {
				t.Fatal(err)
			}
			got := extracttest.Parts(t, h.FS, out)
			if want == nil {
				want = got
			}
			if len(got) == 0 || !maps.Equal(got, want) {
				t.Errorf("%+v: %d files from %s, want the files of the plain table", o, len(got), u.Name)
			}
		}
	}
}

// streamed extracts a stream of one format.
func streamed(t *testing.T, h *extracttest.Fixture, q testworld.Query, o query.Output, to io.Writer) (extract.Result, error) {
	t.Helper()
	u := extracttest.Plain
	u.Output, u.Output.Stream = o, to
	return h.Extract(t.Context(), q, u, "-")
}

// TestAStreamIsThePartsInOrder checks that a stream has the parts in order, and one header.
func TestAStreamIsThePartsInOrder(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for _, f := range []query.Format{query.CSV, query.JSONL} {
		u := extracttest.Plain
		u.Output.Format = f
		out := filepath.Join(h.Dir, string(f))
		r, err := h.Extract(t.Context(), q, u, out)
		if err != nil || r.Files < 3 {
			t.Fatalf("%+v, %v; want several parts", r, err)
		}
		var want strings.Builder
		for i, name := range slices.Sorted(maps.Keys(extracttest.Parts(t, h.FS, out))) {
			text := extracttest.Parts(t, h.FS, out)[name]
			if f == query.CSV && i > 0 {
				_, text, _ = strings.Cut(text, "\n")
			}
			want.WriteString(text)
		}
		var got bytes.Buffer
		s, err := streamed(t, h, q, query.Output{Format: f}, &got)
		if err != nil || s.Events != r.Events || s.Kept != r.Kept || s.Files != 0 {
			t.Errorf("%s: %+v, %v; want the counts of %+v, and no files", f, s, err, r)
		}
		if got.String() != want.String() {
			t.Errorf("%s: a stream of %d bytes is not the parts, %d bytes", f, got.Len(), want.Len())
		}
	}
}

// TestWorkersChangeNoStream extracts a stream of several parts with one worker and with several.
func TestWorkersChangeNoStream(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for _, f := range query.Formats {
		var want bytes.Buffer
		for _, workers := range []int{1, 2, 5} {
			var got bytes.Buffer
			u := extracttest.Turn{Name: "trails", Workers: workers, Output: query.Output{Format: f, Stream: &got}}
			if _, err := h.Extract(t.Context(), q, u, "-"); err != nil || got.Len() == 0 {
				t.Fatalf("%s, %d workers: %d bytes, %v", f, workers, got.Len(), err)
			}
			if workers == 1 {
				want = got
			} else if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%s: %d workers write other bytes than one", f, workers)
			}
		}
	}
}

// TestAnEmptyStreamOfArrowHasItsSchema compares a stream without rows with a stream with rows. It has the same first
// message.
func TestAnEmptyStreamOfArrowHasItsSchema(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	var rows, none bytes.Buffer
	if _, err := streamed(t, h, q, query.Output{Format: query.Arrow}, &rows); err != nil {
		t.Fatal(err)
	}
	q.Users = []string{"nobody"}
	if _, err := streamed(t, h, q, query.Output{Format: query.Arrow}, &none); err != nil {
		t.Fatal(err)
	}
	schema, ended := bytes.CutSuffix(none.Bytes(), []byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	if !ended || len(schema) == 0 || !bytes.HasPrefix(rows.Bytes(), schema) {
		t.Errorf("a stream without rows is %q, want the schema and the end", none.Bytes())
	}
}

// gone is a pipe whose reader reads this number of bytes and then closes it.
type gone int

func (g *gone) Write(b []byte) (int, error) {
	if *g -= gone(len(b)); *g < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

func TestAStreamEndsWhenItsReaderHasGone(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for _, f := range query.Formats {
		for _, takes := range []gone{0, 100} {
			left := takes
			if _, err := streamed(t, h, q, query.Output{Format: f}, &left); !errors.Is(err, output.ErrGone) {
				t.Errorf("%s, after %d bytes: %v, want ErrGone", f, takes, err)
			}
		}
	}
}

// TestAFailedStreamHasNoEnd reads a table that changes while it is read. A reader of Parquet or
// Arrow sees that the rows are not all there.
func TestAFailedStreamHasNoEnd(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for format, end := range map[query.Format]string{query.Arrow: "\xff\xff\xff\xff\x00\x00\x00\x00", query.Parquet: "PAR1"} {
		var whole, cut bytes.Buffer
		if _, err := streamed(t, h, q, query.Output{Format: format}, &whole); err != nil || !strings.HasSuffix(whole.String(), end) {
			t.Fatalf("%s: a stream of %d bytes that ends with %q: %v", format, whole.Len(), whole.Bytes()[max(0, whole.Len()-8):], err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		u := extracttest.Plain
		u.Output = query.Output{Format: format, Stream: writerFunc(func(b []byte) (int, error) {
			cancel() // the other parts are not written
			return cut.Write(b)
		})}
		if _, err := h.Extract(ctx, q, u, "-"); !errors.Is(err, context.Canceled) || cut.Len() == 0 || strings.HasSuffix(cut.String(), end) {
			t.Errorf("%s: a canceled stream of %d bytes ends with %q: %v", format, cut.Len(), cut.Bytes()[max(0, cut.Len()-8):], err)
		}
		cancel()
	}
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestAnEmptyStreamHasItsHeader checks a stream without rows: it has its header. In jsonl it is
// empty.
func TestAnEmptyStreamHasItsHeader(t *testing.T) {
	w, h := extracttest.Tiny(t)
	h.Load(t, extracttest.Plain, w.Span)
	q := testworld.Query{Users: []string{"nobody"}, Span: w.Span, Kinds: w.Names()[:1], Active: "any"}
	for o, want := range map[query.Output]string{
		{Format: query.CSV, Shape: trailfile.WideShape}: "user_id,play_count,play_first,play_last,play_days\n",
		{Format: query.JSONL}:                           "",
	} {
		var got bytes.Buffer
		if _, err := streamed(t, h, q, o, &got); err != nil || got.String() != want {
			t.Errorf("%+v: %q, %v; want %q", o, got.String(), err, want)
		}
	}
}

// TestAnEmptyPartitionedResultTellsItsColumns in the manifest: there is no file.
func TestAnEmptyPartitionedResultTellsItsColumns(t *testing.T) {
	w, h := extracttest.Tiny(t)
	h.Load(t, extracttest.Plain, w.Span)
	q := testworld.Query{Users: []string{"nobody"}, Span: w.Span, Kinds: w.Names(), Active: "any"}
	r, out := resultIn(t, h, q, query.Output{Partition: "date"})
	m := extracttest.ReadManifest(t, h.FS, out)
	if r.Files != 0 || len(m.Parts) != 0 || len(m.Columns) < 5 || m.Columns[1].Name != "date" || m.Query.PartitionBy != "date" {
		text, err := json.Marshal(m)
		t.Errorf("%d files, %s, %v; want none and all columns", r.Files, text, err)
	}
	if files := extracttest.Parts(t, h.FS, out); len(files) != 0 {
		t.Errorf("there are %d files", len(files))
	}
}

func TestWrongOutputsAreRefused(t *testing.T) {
	w, h := extracttest.Tiny(t)
	h.Load(t, extracttest.Plain, w.Span)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	for says, o := range map[string]query.Output{
		`--format "xml" is none of parquet, csv, jsonl, arrow`:    {Format: "xml"},
		`--shape "tall" is none of long, wide`:                    {Shape: "tall"},
		`--partition-by "user_id" is none of date, behaviour`:     {Partition: "user_id"},
		"--partition-by date: with --shape wide a row is a user":  {Partition: "date", Shape: trailfile.WideShape},
		"--partition-by date: standard output has no directories": {Partition: "date", Format: query.CSV, Stream: io.Discard},
	} {
		u := extracttest.Plain
		u.Output = o
		if _, err := h.Extract(t.Context(), q, u, filepath.Join(h.Dir, "out")); !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want ErrWrong and %q", o, err, says)
		}
	}
	q.Conditions.Fields = []string{"seconds"}
	u := extracttest.Plain
	u.Output.Shape = trailfile.WideShape
	if _, err := h.Extract(t.Context(), q, u, filepath.Join(h.Dir, "out")); !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), "there are only count, first, last, days") {
		t.Errorf("fields of a wide result: %v, want ErrWrong", err)
	}
	if left := extracttest.Leftovers(t, h.Dir); strings.Contains(strings.Join(left, " "), "out") {
		t.Errorf("wrong queries left %q", left)
	}
}

// TestAStepsColumnIsNoField requests a sequence where a field is called like one of its
// columns.
func TestAStepsColumnIsNoField(t *testing.T) {
	h := extracttest.New(t, "logs: logs/{date}/{behaviour}.csv\ntable: trails\nbehaviours: {play: {id: 1, fields: {step_2: int64, other: int64}}}\n")
	day := behaviour.DateOf(2014, 9, 1)
	h.Deliver(t, testworld.File{Name: day.String() + "/play.csv", Text: []byte("user_id,time,step_2,other\nu,2014-09-01 08:00:00,7,8\nu,2014-09-01 08:10:00,7,8\n")})
	span := behaviour.Span{From: day, To: day}
	h.Load(t, extracttest.Plain, span)
	q := testworld.Query{Span: span, Kinds: []string{"play"}}
	q.Conditions.Steps = []testworld.Step{{Kind: "play"}, {Kind: "play"}}
	_, err := h.Extract(t.Context(), q, extracttest.Plain, filepath.Join(h.Dir, "out"))
	if want := "--sequence: the field step_2 is called as the column of step 2; leave it out with --fields"; !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want ErrWrong and %q", err, want)
	}
	q.Conditions.Fields = []string{"play.other"}
	if _, err := h.Extract(t.Context(), q, extracttest.Plain, filepath.Join(h.Dir, "out")); err != nil {
		t.Errorf("with another field: %v", err)
	}
}
