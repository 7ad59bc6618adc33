package advise_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/bulkload"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/advise"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
)

// fourKinds is a job of the logs that writeLogs writes.
const fourKinds = `
logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  play: {id: 1, fields: {programme: string, seconds: int64}}
  order: {id: 2, fields: {product: string, price: double}}
  visit: {id: 3, fields: {page: string}}
  login: {id: 4}
`

var (
	kinds = []string{"play", "order", "visit", "login"}
	heads = []string{"user_id,time,programme,seconds", "user_id,time,product,price", "user_id,time,page", "user_id,time"}
	days  = behaviour.Span{From: behaviour.DateOf(2014, 9, 1), To: behaviour.DateOf(2014, 9, 10)}
)

// writeLogs writes ten days of logs, of so many users with so many behaviours each, called
// by name, and returns their folder.
func writeLogs(t *testing.T, users, each int, name string) string {
	t.Helper()
	dir, random := t.TempDir(), rand.New(rand.NewPCG(uint64(users), uint64(each)))
	lines := map[string][]string{}
	for u := range users {
		for range each {
			k := random.IntN(len(kinds))
			file := fmt.Sprintf("%s/%s.csv", days.From+behaviour.Date(random.IntN(days.Days())), kinds[k])
			second := random.IntN(86400)
			line := fmt.Sprintf(name+",%s %02d:%02d:%02d", u+1, file[:10], second/3600, second/60%60, second%60)
			switch k {
			case 0:
				line += fmt.Sprintf(",series %d episode %d,%d", random.IntN(300), random.IntN(60), random.IntN(7200))
			case 1:
				line += fmt.Sprintf(",product%d,%.2f", random.IntN(90), random.Float64()*100)
			case 2:
				line += fmt.Sprintf(",/p/%x", random.Uint64())
			}
			lines[file] = append(lines[file], line)
		}
	}
	for file, l := range lines {
		path := filepath.Join(dir, "logs", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		// In order of time, as logs come: users are spread over a file.
		slices.SortFunc(l, func(a, b string) int {
			return strings.Compare(a[strings.IndexByte(a, ','):], b[strings.IndexByte(b, ','):])
		})
		k := slices.Index(kinds, strings.TrimSuffix(filepath.Base(file), ".csv"))
		testkit.WriteFile(t, path, heads[k]+"\n"+strings.Join(l, "\n")+"\n")
	}
	return dir
}

func parse(t *testing.T, dir, text string) *job.Job {
	t.Helper()
	j, err := job.Parse(filepath.Join(dir, "job.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func take(t *testing.T, j *job.Job, limit int64) *advise.Sample {
	t.Helper()
	s, err := advise.Take(t.Context(), local.New(), j, days, nil, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func measured(t *testing.T) advise.Figures {
	t.Helper()
	f, err := advise.MeasuredFigures()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func advised(t *testing.T, cfg advise.Config) *advise.Advice {
	t.Helper()
	a, err := advise.Advise(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// mixes are lists of queries.
var mixes = map[string][]job.Query{
	"mostly the latest":   {{Ask: job.Latest, Last: 10, PerDay: 100_000}, {Ask: job.At, PerDay: 1000}, {Ask: job.User, PerDay: 1000}},
	"mostly at a time":    {{Ask: job.At, PerDay: 100_000}, {Ask: job.Latest, Last: 10, PerDay: 1000}, {Ask: job.Days, Days: 10, PerDay: 1000}},
	"lists of analysts":   {{Ask: job.List, Days: 10, Users: job.Users{Share: 0.01}, PerDay: 240}, {Ask: job.Days, Days: 10, PerDay: 500}},
	"nights alone":        nil,
	"hours without users": {{Ask: job.Hours, Hours: 1, PerDay: 500}, {Ask: job.User, PerDay: 10}},
}

// TestTheChoiceIsNearTheBestMeasured makes logs of ten events per user, one of the measured
// sizes. It compares the recommended layout with the best layout by the figures themselves.
func TestTheChoiceIsNearTheBestMeasured(t *testing.T) {
	const users, each, reach = 400, 10, 1.2
	j := parse(t, writeLogs(t, users, each, "%d"), fourKinds)
	sample, figures := take(t, j, advise.DefaultBytes), measured(t)
	for mix, queries := range mixes {
		a := advised(t, advise.Config{Job: j, Sample: sample, Queries: queries, Figures: figures})
		if a.Each != each || a.Held != users*each {
			t.Fatalf("%g behaviours, %g a user, want %d of %d", a.Held, a.Each, users*each, each)
		}
		for _, place := range a.Places {
			work := map[string]float64{}
			for _, f := range figures {
				if f.Where == place.Measured.Where && f.Each == each {
					work[family(f.Layout)] = dayOf(f, queries, a)
				}
			}
			best := math.Inf(1)
			for _, w := range work {
				best = min(best, w)
			}
			if got := work[family(place.Layout)]; len(work) < 7 || got > reach*best {
				t.Errorf("%s, %s: %s takes %g s a day, and the best %g: %v", mix, place.Where, place.Layout, got, best, work)
			}
		}
	}
}

func family(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// dayOf returns the work of a day. The figures are from a table with as many records for each user. The
// work that depends on the size of the table is scaled.
func dayOf(f advise.Figure, queries []job.Query, a *advise.Advice) float64 {
	size := a.Held / float64(f.Records)
	work := f.LoadSeconds * a.Night / float64(f.Records)
	for _, q := range queries {
		took := f.Queries[string(q.Ask)]
		w := q.PerDay * took.P50 / 1000
		if took.PerSecond > 0 {
			w = q.PerDay / took.PerSecond
		}
		if q.Ask == job.List || q.Ask == job.Hours {
			w *= size
		}
		work += w
	}
	return work
}

// TestMoreWorkNeverCostsLess increases each amount of work.
func TestMoreWorkNeverCostsLess(t *testing.T) {
	j := parse(t, writeLogs(t, 100, 7, "%d"), fourKinds)
	cfg := advise.Config{Job: j, Sample: take(t, j, advise.DefaultBytes), Figures: measured(t)}
	grow := map[string][]job.Query{
		"per_day": {{Ask: job.At, PerDay: 1}, {Ask: job.At, PerDay: 2}, {Ask: job.At, PerDay: 1000}},
		"last":    {{Ask: job.Latest, Last: 1, PerDay: 1}, {Ask: job.Latest, Last: 10, PerDay: 1}, {Ask: job.Latest, Last: 100_000, PerDay: 1}},
		"days":    {{Ask: job.Days, Days: 1, PerDay: 1}, {Ask: job.Days, Days: 10, PerDay: 1}, {Ask: job.Days, Days: 1000, PerDay: 1}},
		"types":   {{Ask: job.Days, Days: 5, Types: kinds[:1], PerDay: 1}, {Ask: job.Days, Days: 5, Types: kinds[:3], PerDay: 1}, {Ask: job.Days, Days: 5, PerDay: 1}},
		"users":   {{Ask: job.List, Days: 5, Users: job.Users{Count: 1}, PerDay: 1}, {Ask: job.List, Days: 5, Users: job.Users{Share: 0.1}, PerDay: 1}, {Ask: job.List, Days: 5, Users: job.Users{Share: 1}, PerDay: 1}},
		"hours":   {{Ask: job.Hours, Hours: 0.1, PerDay: 1}, {Ask: job.Hours, Hours: 1, PerDay: 1}, {Ask: job.Hours, Hours: 24, PerDay: 1}},
	}
	for what, queries := range grow {
		last := map[string]float64{}
		for i, q := range queries {
			cfg.Queries = []job.Query{q}
			for _, place := range advised(t, cfg).Places {
				for _, l := range place.Layouts {
					key := string(place.Where) + " " + l.Layout
					if l.Cannot != "" || l.Day <= 0 || l.Day < last[key] {
						t.Errorf("%s, query %d of %s: %g s after %g s, %s", what, i, key, l.Day, last[key], l.Cannot)
					}
					last[key] = l.Day
				}
			}
		}
	}
	cfg.Queries = nil
	bytes := map[string]int64{}
	for _, n := range []int{10, 20, 400} {
		cfg.Days = n
		for _, place := range advised(t, cfg).Places {
			for _, l := range place.Layouts {
				key := string(place.Where) + " " + l.Layout
				if l.Bytes <= bytes[key] {
					t.Errorf("%d days in %s: %d bytes after %d", n, key, l.Bytes, bytes[key])
				}
				bytes[key] = l.Bytes
			}
		}
	}
}

// TestSizesAreThoseOfALoad loads the logs in every layout, and compares.
func TestSizesAreThoseOfALoad(t *testing.T) {
	const off = 0.3
	for _, w := range []struct{ users, each int }{{3000, 1}, {300, 20}, {20, 300}} {
		dir := writeLogs(t, w.users, w.each, "%d")
		j := parse(t, dir, fourKinds)
		a := advised(t, advise.Config{Job: j, Sample: take(t, j, advise.DefaultBytes), Figures: measured(t)})
		place := a.Places[slices.IndexFunc(a.Places, func(c advise.Choice) bool { return c.Where == advise.Files })]
		for _, name := range layout.Names() {
			i := slices.IndexFunc(place.Layouts, func(c advise.Cost) bool { return c.Layout == name })
			if i < 0 {
				t.Fatalf("%s is not among them", name)
			}
			is, said := loaded(t, dir, name), place.Layouts[i].Bytes
			if ratio := float64(said) / float64(is); ratio < 1-off || ratio > 1+off {
				t.Errorf("%d users of %d in %s: said to be %d bytes, and is %d", w.users, w.each, name, said, is)
			}
		}
	}
}

// loaded loads logs, and returns how many bytes HFiles and rolls have.
func loaded(t *testing.T, dir, name string) int64 {
	t.Helper()
	to := filepath.Join(testkit.Scratch(t), "trails")
	j := parse(t, dir, "layout: "+name+fourKinds)
	cfg := load.Config{Resources: bulkload.Resources{FS: local.New(), Store: files.Store{FS: local.New(), Dir: to}, Workers: 2, Memory: 8 << 20, Temp: dfs.Join(to, catalog.TempName)}, Job: j, Span: days}
	if _, err := load.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	var size int64
	err := filepath.WalkDir(filepath.Join(to, "d"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil || size == 0 {
		t.Fatalf("%d bytes: %v", size, err)
	}
	return size
}

// TestAPartHasTheSizesOfAllLogs reads a part of each file.
func TestAPartHasTheSizesOfAllLogs(t *testing.T) {
	const users, each = 9000, 60
	s := take(t, parse(t, writeLogs(t, users, each, "u%05d"), fourKinds), 1)
	if s.Whole || s.Sampled > users*each*3/4 {
		t.Fatalf("%d records were read, whole: %v", s.Sampled, s.Whole)
	}
	near := func(what string, got, want, off float64) {
		if got < want*(1-off) || got > want*(1+off) {
			t.Errorf("%s: %g, want about %g", what, got, want)
		}
	}
	near("records", s.Records, users*each, 0.1)
	near("users", s.Users, users, 0.2)
}

// TestWhatCannotHoldTheUsersIsNotTaken has users that are no numbers, or long ones, and days
// that a layout forgets.
func TestWhatCannotHoldTheUsersIsNotTaken(t *testing.T) {
	for name, want := range map[string]string{"u%d": "fixed", "%d": "fixed", "1%08d": "fixed/10", "%07d": "fixed"} {
		j := parse(t, writeLogs(t, 20, 5, name), fourKinds)
		a := advised(t, advise.Config{Job: j, Sample: take(t, j, advise.DefaultBytes), Days: 500, Figures: measured(t)})
		for _, place := range a.Places {
			cannot := map[string]string{}
			for i, l := range place.Layouts {
				cannot[l.Layout] = l.Cannot
				if l.Cannot != "" && place.Layouts[0].Cannot == "" && slices.ContainsFunc(place.Layouts[i:], func(c advise.Cost) bool { return c.Cannot == "" }) {
					t.Errorf("%s, %s: %s cannot be taken, and is not among the last", name, place.Where, l.Layout)
				}
			}
			said, there := cannot[want]
			fits := name == "%d" || name == "1%08d"
			if !there || fits != (said == "") || !fits && !strings.Contains(said, "or choose another layout") {
				t.Errorf("%s, %s: %s cannot be taken: %q", name, place.Where, want, said)
			}
			if forgets := cannot["hashed"] != ""; forgets != (place.Where == advise.HBase) {
				t.Errorf("%s: hashed of 500 days cannot be taken: %q", place.Where, cannot["hashed"])
			}
		}
	}
}

// TestRegionsAreCutByUsers cuts a table into the number of regions of the job. The regions of
// hashed are even. The regions of other layouts depend on the users.
func TestRegionsAreCutByUsers(t *testing.T) {
	text := strings.Replace(fourKinds, "table: trails", "table: {path: trails, regions: 4}", 1)
	j := parse(t, writeLogs(t, 200, 5, "%06d"), text)
	cfg := advise.Config{Job: j, Sample: take(t, j, advise.DefaultBytes), Figures: measured(t)}
	for _, only := range []string{"hashed", "tall"} {
		cfg.Figures = slices.DeleteFunc(measured(t), func(f advise.Figure) bool { return f.Layout != only })
		for _, c := range advised(t, cfg).Places {
			if c.Layout != only || c.Regions != 4 || len(c.Splits) != 3 || c.Even != (only == "hashed") {
				t.Errorf("%s: %s, %d regions, even: %v, cut at %q", c.Where, c.Layout, c.Regions, c.Even, c.Splits)
			}
			lines := strings.Join(c.Lines(job.Table{Address: "hbase://zk1/a:b", Catalog: "hdfs://nn/c", Others: true}), "\n")
			want := map[string]string{
				"hashed hbase": `table: {path: "hbase://zk1/a:b", catalog: "hdfs://nn/c", others: true, ttl: 365d, compression: `,
				"tall hbase":   `table: {path: "hbase://zk1/a:b", catalog: "hdfs://nn/c", others: true, compression: `,
				"hashed files": `table: {path: "hbase://zk1/a:b", compression: `,
				"tall files":   `table: {path: "hbase://zk1/a:b", compression: `,
			}[only+" "+string(c.Where)]
			if !strings.HasPrefix(lines, "layout: "+only+"\n"+want) || !strings.HasSuffix(lines, "regions: 4}") {
				t.Errorf("%s, %s:\n%s\nwant\n%s…", only, c.Where, lines, want)
			}
			pasted := strings.Replace(fourKinds, "table: trails", lines, 1)
			if p := parse(t, t.TempDir(), pasted); p.Layout != only || p.Table.Regions != 4 || p.Table.Compression != c.Codec {
				t.Errorf("pasted: %+v", p.Table)
			}
		}
	}
	cfg.Figures = slices.DeleteFunc(measured(t), func(f advise.Figure) bool { return f.Layout != "tall" })
	for _, c := range advised(t, cfg).Places {
		if c.Where == advise.HBase && (c.Bloom != "ROWPREFIX_FIXED_LENGTH" || c.BloomLen != len("000001_") || c.Versions != 1) {
			t.Errorf("%+v", c.Settings)
		}
	}
}

func TestThereMustBeRecords(t *testing.T) {
	j := parse(t, writeLogs(t, 10, 5, "%d"), fourKinds)
	october := behaviour.Span{From: days.From + 60, To: days.To + 60}
	if _, err := advise.Take(t.Context(), local.New(), j, october, nil, 1); !errors.Is(err, job.ErrNoInput) || !strings.Contains(err.Error(), "choose other dates") {
		t.Errorf("of other dates: %v", err)
	}
	if _, err := advise.Take(t.Context(), local.New(), j, days, []string{"plya"}, 1); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "it has play, order, visit, login") {
		t.Errorf("of another behaviour: %v", err)
	}
	s, err := advise.Take(t.Context(), local.New(), j, days, []string{"play"}, 1)
	if err != nil || s.Kinds[0].Count != s.Sampled || s.Kinds[1].Count != 0 {
		t.Errorf("of plays: %+v, %v", s, err)
	}
}

// TestAPipeIsNoLog checks that a named pipe in the place of a log is an error. Nobody writes
// into it, so a read would wait forever.
func TestAPipeIsNoLog(t *testing.T) {
	dir := writeLogs(t, 10, 5, "%d")
	if err := syscall.Mkfifo(filepath.Join(dir, "logs", days.From.String(), "visit.csv.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := parse(t, dir, strings.Replace(fourKinds, ".csv", ".csv*", 1))
	if _, err := advise.Take(t.Context(), local.New(), j, days, nil, 1<<20); !errors.Is(err, dfs.ErrSpecial) {
		t.Errorf("%v, want ErrSpecial", err)
	}
}

func TestFiguresThatTellNothing(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "advise: figures: ",
		"[]":                                     "there are none",
		`[{"layout": "tall", "where": "files"}]`: "each, records, load_seconds and bytes must be above 0",
		`[{"layout": "tall", "where": "files", "each": 1, "records": 1, "load_seconds": 1, "bytes": 1}]`:      "query at was not measured",
		`[{"layout": "tall", "where": "files", "each": 1, "records": 1, "load_seconds": 1, "bytes": "many"}]`: "advise: figures: ",
	} {
		if f, err := advise.ParseFigures([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, f, err, want)
		}
	}
}

// TestFiguresAreInterpolated computes the figures for thirty events per user, which is between
// the measured sizes ten and a hundred, and for sizes outside the measured ones.
func TestFiguresAreInterpolated(t *testing.T) {
	var figures advise.Figures
	for _, each := range []float64{10, 100} {
		f := advise.Figure{Layout: "tall", Where: advise.Files, Each: each, Records: 1000, LoadSeconds: 1, Bytes: 1, Queries: map[string]advise.Timing{}}
		for _, q := range []job.Ask{job.At, job.User, job.Latest, job.Days, job.List, job.Hours} {
			f.Queries[string(q)] = advise.Timing{P50: each, PerSecond: 1000 / each}
		}
		figures = append(figures, f)
	}
	for each, want := range map[int]float64{1: 10, 10: 10, 31: 31, 100: 100, 200: 100} {
		j := parse(t, writeLogs(t, 10, each, "%d"), fourKinds)
		a := advised(t, advise.Config{Job: j, Sample: take(t, j, advise.DefaultBytes), Figures: figures, Queries: []job.Query{{Ask: job.User, PerDay: 1}}})
		for _, c := range a.Places {
			if c.Measured.Where != advise.Files || c.Layout != "tall" {
				t.Errorf("%s: %s by %+v", c.Where, c.Layout, c.Measured)
			}
			if got := c.Layouts[0].Queries[0]; math.Abs(got.P50-want) > 0.01*want || math.Abs(got.Milliseconds-want) > 0.01*want {
				t.Errorf("%d a user: %+v, want %g ms", each, got, want)
			}
		}
	}
}
