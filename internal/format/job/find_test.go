package job_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestFind creates trees of files and shows which of them jobs find.
func TestFind(t *testing.T) {
	datadriven.Walk(t, "testdata/find", func(t *testing.T, path string) {
		root := t.TempDir()
		j := &job.Job{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "tree":
				return tree(t, root, d.Input)
			case "job":
				var err error
				if j, err = job.Parse(root+"/jobs/job.yaml", []byte(d.Input)); err != nil {
					return strings.ReplaceAll(err.Error(), root, "") + "\n"
				}
				return strings.TrimPrefix(j.Pattern.Root, root) + "\n"
			case "find":
				return strings.ReplaceAll(find(t, d, j), root, "")
			case "match":
				return match(j, root, d.Input)
			case "globs":
				span, kinds := asked(t, d, j)
				return strings.ReplaceAll(strings.Join(j.Pattern.Globs(span, kinds), "\n"), root, "") + "\n"
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

// tree makes empty files; a name that ends in a slash is a folder.
func tree(t *testing.T, root, names string) string {
	t.Helper()
	for _, name := range strings.Fields(names) {
		path := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			path = filepath.Join(path, "x")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		testkit.WriteFile(t, path, name)
	}
	return ""
}

func asked(t *testing.T, d *datadriven.TestData, j *job.Job) (span behaviour.Span, kinds []int) {
	t.Helper()
	var from, to, names string
	d.ScanArgs(t, "from", &from)
	to = from
	d.MaybeScanArgs(t, "to", &to)
	d.MaybeScanArgs(t, "kinds", &names)
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == '+' }) {
		k, ok := j.Schema.Kind(name)
		if !ok {
			d.Fatalf(t, "no behaviour %s", name)
		}
		kinds = append(kinds, k)
	}
	return behaviour.Span{From: date(t, from), To: date(t, to)}, kinds
}

func find(t *testing.T, d *datadriven.TestData, j *job.Job) string {
	t.Helper()
	span, kinds := asked(t, d, j)
	counted := &lister{FS: local.New()}
	found, err := j.Find(t.Context(), counted, span, kinds)
	if err != nil {
		return fmt.Sprintf("%v\nErrNoInput %v\n", err, errors.Is(err, job.ErrNoInput))
	}
	var b strings.Builder
	for _, in := range found.Inputs {
		fmt.Fprintf(&b, "%s: %s\n", in.Rel, told(j, in.Date, in.Kind))
	}
	for _, m := range found.Missing {
		fmt.Fprintf(&b, "missing %s: %s\n", told(j, &m.Date, m.Kind), m.Path)
	}
	if err := j.CheckRequired(found.Missing, kinds); err != nil {
		fmt.Fprintf(&b, "%v\nErrNoInput %v\n", err, errors.Is(err, job.ErrNoInput))
	}
	lists := counted.lists
	fmt.Fprintf(&b, "%d folders listed\n", lists)
	others, err := found.Unmapped(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range others.List(100) {
		fmt.Fprintf(&b, "unmapped %q: %d files, such as %s\n", o.Text, o.Files, o.Example)
	}
	if n := counted.lists - lists; n > 0 {
		fmt.Fprintf(&b, "%d more folders listed\n", n)
	}
	return b.String()
}

func told(j *job.Job, date *behaviour.Date, kind int) string {
	s := "no date"
	if date != nil {
		s = date.String()
	}
	if kind < 0 {
		return s + ", by column"
	}
	return s + ", " + j.Schema.Kinds[kind].Name
}

func match(j *job.Job, root, names string) string {
	var b strings.Builder
	for _, name := range strings.Fields(names) {
		full := name
		if strings.HasPrefix(name, "/") {
			full = root + name
		}
		date, kind, ok := j.Pattern.Match(full)
		rel, _ := j.Pattern.Rel(full)
		if !ok {
			fmt.Fprintf(&b, "%s: no\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s: %s, called %s\n", name, told(j, date, kind), rel)
	}
	return b.String()
}

// A lister counts the calls of List and Stat.
type lister struct {
	dfs.FS
	lists, stats int
}

func (l *lister) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	l.lists++
	return l.FS.List(ctx, dir)
}

// Stat implements dfs.FS.
func (l *lister) Stat(ctx context.Context, name string) (dfs.Info, error) {
	l.stats++
	return l.FS.Stat(ctx, name)
}

// result is the manifest of a result of extract.
const result = `{"version": 1, "question": {"active": "any", "users": "all", "format": "csv"}}`

// TestFindLeavesOutResults has results of extract in and below folders that wildcards match, and folders that the path names. It
// counts the calls that show which folders are results.
func TestFindLeavesOutResults(t *testing.T) {
	for _, c := range []struct {
		paths, want, written string
		stats                int
	}{
		{`"logs/*/*.csv"`, "a/other.csv a/real.csv", "out", 1},
		{`"logs/*/part-0.csv"`, "", "out", 1 + 4 + 2},
		{`"logs/*/real.csv"`, "a/real.csv", "", 1 + 4 + 2},
		{`"logs/*/sub/*.csv"`, "a/sub/real.csv", "out", 1 + 4 + 2*2},
		{`"logs/*/sub/real.csv"`, "a/sub/real.csv", "out", 1 + 4 + 2*2 + 1 + 2},
		{`"logs/*/res/*.csv"`, "", "x/res", 1 + 4 + 2},
		{`"logs/*/res/date={date}/*.csv"`, "", "x/res", 1 + 4 + 2},
		{`["logs/*/real.csv", "logs/*/other.csv"]`, "a/other.csv a/real.csv", "", 2 + 2*4 + 2},
		{`"logs/out/*.csv"`, "part-0.csv", "", 1},
		{`"logs/out/part-0.csv"`, "part-0.csv", "", 2},
		{`"logs/x/res/date={date}/*.csv"`, "date=2014-09-01/part-0.csv", "", 1},
	} {
		root := t.TempDir()
		tree(t, root, "logs/a/real.csv logs/a/other.csv logs/a/sub/real.csv logs/empty/ logs/out/part-0.csv logs/out/sub/part-1.csv logs/x/res/part-0.csv logs/x/res/date=2014-09-01/part-0.csv")
		for _, folder := range []string{"out", "x/res"} {
			testkit.WriteFile(t, filepath.Join(root, "logs", folder, "_manifest.json"), result)
		}
		j, err := job.Parse(root+"/job.yaml", []byte("logs: "+c.paths+"\nbehaviours: {play: {id: 1}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		counted := &lister{FS: local.New()}
		found, err := j.Find(t.Context(), counted, behaviour.Span{From: date(t, "2014-09-01"), To: date(t, "2014-09-01")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var rels []string
		for _, in := range found.Inputs {
			rels = append(rels, in.Rel)
		}
		if got, written := strings.Join(rels, " "), strings.Join(found.Written, " "); got != c.want || written != c.written || counted.stats != c.stats {
			t.Errorf("%s: found %q, left out %q, %d calls of Stat; want %q, %q, %d", c.paths, got, written, counted.stats, c.want, c.written, c.stats)
		}
	}
}

// TestLinksThatLeadNowhereAreFound has such links in the places of folders and files. A link in the place of a log is a log.
func TestLinksThatLeadNowhereAreFound(t *testing.T) {
	for _, c := range []struct{ paths, want, lost string }{
		{`"logs/{date}/*.csv"`, "2014-09-01/gone.csv 2014-09-01/play.csv", "2014-09-02 2014-09-03"},
		{`"logs/{date}/gone.csv"`, "2014-09-01/gone.csv", "2014-09-02 2014-09-03"},
		{`"logs/{date}/through"`, "2014-09-01/through", "2014-09-02 2014-09-03"},
		{`"logs/{date}/through/*.csv"`, "", "2014-09-01/through 2014-09-02 2014-09-03"},
		{`"logs/{date}/long"`, "2014-09-01/long", "2014-09-02 2014-09-03"},
		{`"logs/{date}/long/*.csv"`, "", "2014-09-01/long 2014-09-02 2014-09-03"},
		{`"logs/{date}/tables/*.csv"`, "2014-09-01/tables/play.csv", "2014-09-02 2014-09-03"},
		{`"logs/{date}/tables/play.csv"`, "2014-09-01/tables/play.csv", "2014-09-02 2014-09-03"},
		{`"logs/{date}/self/*.csv"`, "", "2014-09-01/self 2014-09-02 2014-09-03"},
		{`"logs/{date}/self"`, "2014-09-01/self", "2014-09-02 2014-09-03"},
		{`["logs/{date}/play.csv", "logs/{date}/other.csv"]`, "2014-09-01/play.csv", "2014-09-02 2014-09-03"},
		{`"logs/{date}/plain/*.csv"`, "", "2014-09-02 2014-09-03"},
	} {
		root := t.TempDir()
		tree(t, root, "logs/2014-09-01/play.csv logs/2014-09-01/plain logs/2014-09-01/tables/play.csv")
		for name, target := range map[string]string{
			"2014-09-01/gone.csv": "nowhere", "2014-09-01/self": "self", "2014-09-02": "/nowhere/at/all", "2014-09-03": "2014-09-03", "2014-09-09": "nowhere",
			"2014-09-01/through": "plain/x", "2014-09-01/long": strings.Repeat("a", 300),
			"2014-09-01/tables/manifest.json": "../plain/x", "2014-09-01/tables/_extract.json": strings.Repeat("a", 300),
		} {
			if err := os.Symlink(target, filepath.Join(root, "logs", name)); err != nil {
				t.Fatal(err)
			}
		}
		j, err := job.Parse(root+"/job.yaml", []byte("logs: "+c.paths+"\nbehaviours: {play: {id: 1}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		found, err := j.Find(t.Context(), local.New(), behaviour.Span{From: date(t, "2014-09-01"), To: date(t, "2014-09-03")}, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.paths, err)
		}
		var rels, links []string
		for _, in := range found.Inputs {
			rels = append(rels, in.Rel)
		}
		for _, u := range found.Lost {
			links = append(links, u.Rel)
			if day := date(t, u.Rel[:10]); u.Dates != (behaviour.Span{From: day, To: day}) {
				t.Errorf("%s: %s may have the dates %s", c.paths, u.Rel, u.Dates)
			}
		}
		if got, lost := strings.Join(rels, " "), strings.Join(links, " "); got != c.want || lost != c.lost {
			t.Errorf("%s: found %q, lost %q; want %q, %q", c.paths, got, lost, c.want, c.lost)
		}
	}
}

// TestTheFolderOfTheLogsLeadsNowhere has a link that leads nowhere in the place of the folder of the logs, or of the folder above it.
func TestTheFolderOfTheLogsLeadsNowhere(t *testing.T) {
	for _, target := range []string{"logs", "nowhere", "plain/x", strings.Repeat("a", 300)} {
		for _, at := range []string{"logs", "logs/more"} {
			root := t.TempDir()
			tree(t, root, "plain")
			if err := os.Symlink(target, filepath.Join(root, "logs")); err != nil {
				t.Fatal(err)
			}
			j, err := job.Parse(root+"/job.yaml", []byte("logs: "+at+"/{date}.csv\nbehaviours: {play: {id: 1}}\n"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = j.Find(t.Context(), local.New(), behaviour.Span{From: date(t, "2014-09-01"), To: date(t, "2014-09-01")}, nil)
			if exit.Of(err) != exit.NoInput || !strings.Contains(err.Error(), "mount the folder") {
				t.Errorf("%s, the link leads to %s: %v", at, target, err)
			}
		}
	}
}

// TestFindSaysWhatFailed fails each operation of a search, one after the other. Find must fail too, wrap
// the cause, and not report missing input.
func TestFindSaysWhatFailed(t *testing.T) {
	root := t.TempDir()
	tree(t, root, "logs/2014-09-01/play.csv logs/2014-09-02/play.csv logs/2014-09-02/order.csv more/play/all.csv")
	j, err := job.Parse(root+"/job.yaml", []byte(`
logs: ["logs/{date}/{behaviour}.csv", "more/{behaviour}/all.csv"]
behaviours: {play: {id: 1}, order: {id: 2}}
`))
	if err != nil {
		t.Fatal(err)
	}
	span := behaviour.Span{From: date(t, "2014-09-01"), To: date(t, "2014-09-02")}
	for n := 0; ; n++ {
		faulty := dfstest.FaultAt(local.New(), n)
		found, err := j.Find(t.Context(), faulty, span, nil)
		if faulty.Count() <= n {
			if err != nil || len(found.Inputs) != 4 {
				t.Fatalf("without a fault: %d inputs, %v; want 4", len(found.Inputs), err)
			}
			return
		}
		if !errors.Is(err, dfstest.ErrInjected) || errors.Is(err, job.ErrNoInput) {
			t.Errorf("fault at %d: got %v", n, err)
		}
	}
}

// TestFindFromARelativeFolder reads the same job from its own folder and from another folder.
// The files must have the same names.
func TestFindFromARelativeFolder(t *testing.T) {
	root := t.TempDir()
	tree(t, root, "jobs/logs/2014-09-01.csv other/2014-09-01.csv")
	text := []byte("logs: ['logs/{date}.csv', '../other/{date}.csv']\nbehaviours: {play: {id: 1}}\n")
	day := date(t, "2014-09-01")
	rels := func(dir, name string) string {
		t.Chdir(filepath.Join(root, dir))
		j, err := job.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		found, err := j.Find(t.Context(), local.New(), behaviour.Span{From: day, To: day}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, in := range found.Inputs {
			if _, err := fs.Stat(os.DirFS("/"), strings.TrimPrefix(abs(t, in.Path), "/")); err != nil {
				t.Error(err)
			}
			if _, _, ok := j.Pattern.Match(in.Path); !ok {
				t.Errorf("%s does not match", in.Path)
			}
			out = append(out, in.Rel)
		}
		return strings.Join(out, " ")
	}
	want := "../other/2014-09-01.csv logs/2014-09-01.csv"
	for _, at := range [][2]string{{"jobs", "job.yaml"}, {"jobs", "./job.yaml"}, {".", "jobs/job.yaml"}, {"other", "../jobs/job.yaml"}, {".", filepath.Join(root, "jobs/job.yaml")}} {
		if got := rels(at[0], at[1]); got != want {
			t.Errorf("%s from %s finds %q, want %q", at[1], at[0], got, want)
		}
	}
}

func abs(t *testing.T, name string) string {
	t.Helper()
	full, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return full
}
