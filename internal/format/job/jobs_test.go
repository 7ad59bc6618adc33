package job_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// load loads a file of jobs/ and replaces the path of the real data.
func load(t *testing.T, name string) *job.Job {
	t.Helper()
	path := filepath.Join(testkit.Repository(t), "jobs", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.Parse(path, []byte(strings.ReplaceAll(string(text), "../../shared", testkit.Shared(t, ""))))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func date(t *testing.T, s string) behaviour.Date {
	t.Helper()
	d, err := behaviour.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestJobs(t *testing.T) {
	folder := filepath.Join(testkit.Repository(t), "jobs")
	names, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(names) < 3 {
		t.Fatalf("found %d job files, %v; want at least journey, launch and settopbox", len(names), err)
	}
	for _, name := range names {
		j, err := job.Load(t.Context(), local.New(), name)
		if err != nil {
			t.Error(err)
			continue
		}
		if j.Table.Address == "" || j.Pattern.Root == "" {
			t.Errorf("%s: table %q, root %q; want both", name, j.Table.Address, j.Pattern.Root)
		}
	}
}

func TestJobsFindTheRealLogs(t *testing.T) {
	for _, c := range []struct {
		job, from, to string
		kinds         []string
		files         int
		missing       int
		first         string
	}{
		{"journey.yaml", "2016-11-14", "2017-12-31", nil, 25 + 263 + 364, 3*413 - 652, "2016-11-14/campaign_received.csv.gz"},
		{"journey.yaml", "2017-01-01", "2017-12-31", []string{"purchase"}, 364, 1, "2017-01-01/purchase.csv.gz"},
		{"journey.yaml", "2017-01-01", "2017-01-01", nil, 2, 1, "2017-01-01/coupon_redeemed.csv.gz"},
		{"launch.yaml", "2016-04-27", "2016-05-27", nil, 62, 0, "gameStarted/2016-04-27.csv.gz"},
		{"launch.yaml", "2016-05-01", "2016-05-10", []string{"newPlayer"}, 10, 0, "newPlayer/2016-05-01.csv.gz"},
	} {
		j := load(t, c.job)
		var kinds []int
		for _, name := range c.kinds {
			k, ok := j.Schema.Kind(name)
			if !ok {
				t.Fatalf("%s has no %s", c.job, name)
			}
			kinds = append(kinds, k)
		}
		span := behaviour.Span{From: date(t, c.from), To: date(t, c.to)}
		found, err := j.Find(t.Context(), local.New(), span, kinds)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Inputs) != c.files || len(found.Missing) != c.missing || found.Inputs[0].Rel != c.first {
			t.Errorf("%s %s %v: %d files, %d missing, first %s; want %d, %d, %s", c.job, span, c.kinds,
				len(found.Inputs), len(found.Missing), found.Inputs[0].Rel, c.files, c.missing, c.first)
		}
		for _, in := range found.Inputs {
			d, kind, ok := j.Pattern.Match(in.Path)
			if !ok || *d != *in.Date || kind != in.Kind || in.Size == 0 || in.Modified.IsZero() {
				t.Fatalf("%+v: Match says %v %d %v", in, d, kind, ok)
			}
			if rel, ok := j.Pattern.Rel(in.Path); !ok || rel != in.Rel {
				t.Fatalf("%s is %q below the root, want %q", in.Path, rel, in.Rel)
			}
		}
	}
}

func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	days := behaviour.Span{From: behaviour.DateOf(2017, 1, 1), To: behaviour.DateOf(2018, 1, 2)}
	for d := days.From; d <= days.To; d++ {
		if err := os.MkdirAll(filepath.Join(dir, "logs", d.String()), 0o755); err != nil {
			b.Fatal(err)
		}
		for _, kind := range []string{"play", "order"} {
			testkit.WriteFile(b, filepath.Join(dir, "logs", d.String(), kind+".csv"), "")
		}
	}
	j, err := job.Parse(filepath.Join(dir, "job.yaml"), []byte("logs: logs/{date}/{behaviour}.csv\nbehaviours: {play: {id: 1}, order: {id: 2}}\n"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("days=367/kinds=2", func(b *testing.B) {
		for b.Loop() {
			if found, err := j.Find(b.Context(), local.New(), days, nil); err != nil || len(found.Inputs) != 2*days.Days() {
				b.Fatalf("%d files, %v", len(found.Inputs), err)
			}
		}
	})
}

// TestJobsReadTheRealLogs reads all shared logs with their jobs. Every record must be good,
// no column may be null in all of them, and their number must be the number in
// data/README.md.
func TestJobsReadTheRealLogs(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"journey.yaml": {"purchase": 75_000, "coupon_redeemed": 2_102, "campaign_received": 6_589},
		"launch.yaml":  {"gameStarted": 25_222, "newPlayer": 4_102},
	} {
		j := load(t, name)
		found, err := j.Find(t.Context(), local.New(), behaviour.Span{From: date(t, "2016-01-01"), To: date(t, "2017-12-31")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := &sink{job: j, kept: map[string]int{}}
		for _, in := range found.Inputs {
			read(t, j, in, got)
		}
		if !maps.Equal(got.kept, want) {
			t.Errorf("%s: read %v, want %v", name, got.kept, want)
		}
	}
}

func read(t *testing.T, j *job.Job, in job.Input, s record.Sink) {
	t.Helper()
	f, err := local.New().Open(t.Context(), in.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := record.Open(f, in.File(), &j.Format)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := record.NewParser(&j.Format, in.File(), r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 64<<10); ; {
		c, err := r.Next(buf)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Parse(c, s); err != nil {
			t.Fatal(err)
		}
	}
}

// A sink counts the records of each behaviour.
type sink struct {
	job  *job.Job
	kept map[string]int
}

func (s *sink) Keep(r *behaviour.Record) error {
	kind := s.job.Schema.Kinds[r.Kind]
	s.kept[kind.Name]++
	for i, v := range r.Values {
		if v == nil {
			return fmt.Errorf("%s of %s on %s: no %s", kind.Name, r.User, r.Date, kind.Fields[i].Name)
		}
	}
	return nil
}

func (s *sink) Skip(*record.Skipped) error { return errors.New("a record was skipped") }

func (s *sink) Reject(r *record.Reject) error { return r }
