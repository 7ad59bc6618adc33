package jobdraft_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// deliver writes the files of a night below dir/logs.
func (n *night) deliver(t *testing.T, dir string) {
	t.Helper()
	for name, text := range n.files {
		name = filepath.Join(dir, "logs", filepath.FromSlash(name))
		testkit.WriteFile(t, name, text)
	}
}

// A loading holds the records that a job reads from the files of a night.
type loading struct {
	events  []string // user, behaviour and time of every good record, in order of the files
	read    int64
	bad     int64
	skipped int64
	refused bool // a file has more bad records than the job allows
}

// A gatherer collects the records of a file.
type gatherer struct {
	*loading
	schema *behaviour.Schema
	bad    int64
	read   int64
}

func (g *gatherer) Keep(r *behaviour.Record) error {
	g.read++
	g.events = append(g.events, fmt.Sprintf("%s\x00%s\x00%d\x00%s", g.schema.Kinds[r.Kind].Name, r.User, r.Time, r.Date))
	return nil
}

func (g *gatherer) Skip(*record.Skipped) error { g.read++; g.skipped++; return nil }

func (g *gatherer) Reject(*record.Reject) error { g.read++; g.bad++; return nil }

// loads reads all files of a night with a job.
func loads(t *testing.T, j *job.Job) loading {
	t.Helper()
	var out loading
	found, err := j.Find(t.Context(), local.New(), behaviour.Span{From: behaviour.DateOf(2000, 1, 1), To: behaviour.DateOf(2030, 1, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range found.Inputs {
		g := &gatherer{loading: &out, schema: j.Schema}
		if err := readFile(j, in, g); err != nil {
			t.Fatal(err)
		}
		out.read, out.bad = out.read+g.read, out.bad+g.bad
		out.refused = out.refused || j.MaxBad.Exceeded(g.read, g.bad)
	}
	return out
}

func readFile(j *job.Job, in job.Input, s record.Sink) error {
	f, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := record.Open(f, in.File(), &j.Format)
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := record.NewParser(&j.Format, in.File(), r.Header())
	if err != nil {
		return err
	}
	for buf := make([]byte, 64<<10); ; {
		c, err := r.Next(buf)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.Parse(c, s)
		}
		if err != nil {
			return err
		}
	}
}

// alike returns the first difference of two loadings, "" if they have the same users and
// times, and if their behaviours differ in names only.
func alike(got, want loading) string {
	if len(got.events) != len(want.events) {
		return fmt.Sprintf("%d records, want %d", len(got.events), len(want.events))
	}
	names, back := map[string]string{}, map[string]string{}
	for i := range got.events {
		a, restA, _ := strings.Cut(got.events[i], "\x00")
		b, restB, _ := strings.Cut(want.events[i], "\x00")
		if names[a] == "" && back[b] == "" {
			names[a], back[b] = b, a
		}
		if restA != restB || names[a] != b || back[b] != a {
			return fmt.Sprintf("record %q, want %q", got.events[i], want.events[i])
		}
	}
	return ""
}

// A verdict is how good the draft of a night is.
type verdict struct {
	night    night
	loads    bool // the draft loads the night as it is
	answered int  // questions that --ask puts
}

// judge drafts the job of a night, and compares it with the job of a careful person. If the
// draft is not complete, it is made again with answers.
func judge(t *testing.T, n night) verdict {
	t.Helper()
	dir := t.TempDir()
	n.deliver(t, dir)
	careful, err := os.ReadFile(filepath.Join("testdata", "nights", n.name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	right, err := job.Parse(filepath.Join(dir, "careful.yaml"), careful)
	if err != nil {
		t.Fatal(err)
	}
	want := loads(t, right)
	if len(want.events) < 100 || want.refused {
		t.Fatalf("%s: the careful job loads %d records, refused %t", n.name, len(want.events), want.refused)
	}
	v := verdict{night: n}
	cfg := jobdraft.Config{FS: local.New(), Logs: filepath.Join(dir, "logs"), Name: filepath.Join(dir, "usertrail.yaml"), Zone: n.zone}
	d, err := jobdraft.Make(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	v.loads = d.Problem == nil
	cfg.Ask = func(q jobdraft.Question) (string, error) {
		v.answered++
		if q.Key == "year" {
			return fmt.Sprint(right.Format.Kinds[0].Time.Year), nil
		}
		return "", nil
	}
	asked, err := jobdraft.Make(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(asked.Text, "unsure") || len(asked.Unsure) > 0 || asked.Problem != nil {
		t.Errorf("%s: a draft with answers: %v\n%s", n.name, asked.Problem, asked.Text)
	}
	for _, d := range []*jobdraft.Draft{d, asked} {
		j, err := job.Parse(cfg.Name, []byte(d.Text))
		if err != nil {
			continue
		}
		got := loads(t, j)
		if diff := alike(got, want); diff != "" || got.refused {
			t.Errorf("%s: the draft reads %s; %d bad, refused %t\n%s", n.name, diff, got.bad, got.refused, d.Text)
		}
		if d.Read > 0 && got.bad*int64(100) > 3*got.read != (d.Bad*100 > 3*d.Read) {
			t.Errorf("%s: %d of %d records are bad, and the draft says %d of %d", n.name, got.bad, got.read, d.Bad, d.Read)
		}
	}
	return v
}

// TestDraftsOfNights drafts the jobs of folders such as people have them, and compares each draft with
// the job of a careful person in testdata/nights.
func TestDraftsOfNights(t *testing.T) {
	var verdicts []verdict
	for _, n := range nights() {
		verdicts = append(verdicts, judge(t, n))
	}
	page := filepath.Join("..", "..", "..", "docs", "tutorial", "first-night.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := table(verdicts); !strings.Contains(string(text), want) {
		t.Errorf("%s lacks this table:\n%s", page, want)
	}
	var names []string
	for _, v := range verdicts {
		names = append(names, v.night.name)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "nights", "*.yaml"))
	if err != nil || len(files) != len(names) || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("%d jobs in testdata/nights for %d nights: %v", len(files), len(names), err)
	}
}

// TestDraftsOfNightsWithoutAZone drafts the jobs without the zone that a user would name. If the draft has the zone of
// the careful job, its records are the same.
func TestDraftsOfNightsWithoutAZone(t *testing.T) {
	for _, n := range nights() {
		dir := t.TempDir()
		n.deliver(t, dir)
		careful, err := os.ReadFile(filepath.Join("testdata", "nights", n.name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		right, err := job.Parse(filepath.Join(dir, "careful.yaml"), careful)
		if err != nil {
			t.Fatal(err)
		}
		d, err := jobdraft.Make(t.Context(), jobdraft.Config{FS: local.New(), Logs: filepath.Join(dir, "logs"), Name: filepath.Join(dir, "usertrail.yaml")})
		if err != nil {
			t.Errorf("%s: %v", n.name, err)
			continue
		}
		if !slices.ContainsFunc(d.Unsure, func(text string) bool { return strings.HasPrefix(text, "logs.zone: ") }) {
			t.Errorf("%s: no comment on the zone\n%s", n.name, d.Text)
		}
		j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(d.Text))
		if err != nil || j.Format.Zone.String() != right.Format.Zone.String() {
			continue
		}
		if diff := alike(loads(t, j), loads(t, right)); diff != "" {
			t.Errorf("%s: the draft reads %s\n%s", n.name, diff, d.Text)
		}
	}
}

// table returns the table of the drafts for the page of docs.
func table(verdicts []verdict) string {
	var b strings.Builder
	good := map[bool]int{}
	for _, v := range verdicts {
		good[v.loads]++
	}
	fmt.Fprintf(&b, "Of %d folders, %d drafts load without an edit.", len(verdicts), good[true])
	if n := good[false]; n > 0 {
		fmt.Fprintf(&b, " The other %d need a year, which `--ask` asks for.", n)
	}
	b.WriteString("\n\n| the logs have | the draft loads without an edit | questions of `--ask` |\n|---|---|---|\n")
	for _, v := range verdicts {
		fmt.Fprintf(&b, "| %s | %s | %d |\n", v.night.about, map[bool]string{true: "yes", false: "no"}[v.loads], v.answered)
	}
	return b.String()
}
