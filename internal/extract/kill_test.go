package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// childEnv names the environment variable with the childTask of a process that is to be killed.
const childEnv = "USERTRAIL_TEST_CHILD"

// A childTask is the work of such a process: it loads a table day by day, extracts into Out, or
// runs Pieces and commits them.
type childTask struct {
	Dir, Table, Out string
	Span            behaviour.Span
	Question        testworld.Question
	Unrolled        bool   // asked without the rolls
	Partition       string // the column by which the result is laid into directories
	Pieces          []pieces.Piece
}

// sizes are small, so that a small result has several parts, and each part several batches.
var sizes = memory.Sizes{PartEvents: 16 << 10, PartBytes: 2 << 20, BatchBytes: 256 << 10, SortBytes: 256 << 10}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := runChildTask(context.Background(), text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runChildTask does the childTask in text, and stops at the step that the environment names.
func runChildTask(ctx context.Context, text string) error {
	var e childTask
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	h := &fixture{dir: e.Dir, fs: local.New(), sizes: sizes}
	var err error
	if h.job, err = job.Load(ctx, h.fs, filepath.Join(e.Dir, "usertrail.yaml")); err != nil {
		return err
	}
	if err := breakpoint.Arm(); err != nil {
		return err
	}
	return h.run(ctx, e)
}

func (h *fixture) run(ctx context.Context, e childTask) error {
	u := turn{name: e.Table, workers: 2, memory: 64 << 20, regions: 2, unrolled: e.Unrolled, output: query.Output{Partition: e.Partition}}
	if len(e.Pieces) > 0 {
		if _, err := h.do(ctx, u, e.Pieces); err != nil {
			return err
		}
		_, err := pieces.Commit(ctx, h.fs, e.Pieces)
		return err
	}
	if e.Out != "" {
		_, err := h.ask(ctx, e.Question, u, e.Out)
		return err
	}
	for d := e.Span.From; d <= e.Span.To; d++ {
		_, err := load.Run(ctx, h.config(u, behaviour.Span{From: d, To: d}))
		if err != nil && !errors.Is(err, bulkload.ErrNothing) {
			return err
		}
	}
	return nil
}

// A moment is the nth time that a process reaches a step.
type moment struct {
	step string
	n    int
}

func (m moment) String() string { return fmt.Sprintf("%s %d", m.step, m.n) }

// process starts one with an childTask, and an environment besides the test's.
func process(t *testing.T, e childTask, env ...string) (c *exec.Cmd, stderr *strings.Builder) {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stderr = new(strings.Builder)
	c = exec.Command(self)
	c.Env = append(append(os.Environ(), childEnv+"="+string(text)), env...)
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, stderr
}

// send has a process do an childTask.
func send(t *testing.T, e childTask) {
	t.Helper()
	c, stderr := process(t, e)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
}

// killAt has a process begin an childTask, and kills it at a moment.
func killAt(t *testing.T, e childTask, m moment) {
	t.Helper()
	c, stderr := process(t, e, fmt.Sprintf("%s=%s:%d", breakpoint.Variable, m.step, m.n))
	reached := testkit.AwaitStop(c.Process.Pid, nil)
	if reached {
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	err := c.Wait()
	if !reached {
		t.Fatalf("the process ended, %v, before it reached the step %s: %s", err, m, stderr)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("a process that was killed ended with %v: %s", err, stderr)
	}
}

// saveJob writes the fixture's job for other processes to read.
func saveJob(t *testing.T, h *fixture, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, "usertrail.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// killsOf are the moments at which a load of so many commits is killed: each step, the
// first time or, if whole, each time.
func killsOf(commits int, whole bool) []moment {
	all := []moment{{breakpoint.Read, 1}, {breakpoint.Read, commits}}
	for i, step := range []string{breakpoint.Batch, breakpoint.Segment, breakpoint.Commit, breakpoint.Ledger, breakpoint.Loaded} {
		for n := 1; n <= commits; n++ {
			if whole || n == 1+i%commits {
				all = append(all, moment{step, n})
			}
		}
	}
	return all
}

// TestKilledLoadsGoOn kills loads with SIGKILL. After each kill the table holds
// some whole days; the same load then ends with the undisturbed one's table.
func TestKilledLoadsGoOn(t *testing.T) {
	w := testworld.World(12, 25)
	h := inhabit(t, w)
	saveJob(t, h, w.Job())
	e := childTask{Dir: h.dir, Table: "clean", Span: w.Span}
	send(t, e)
	want := lasting(t, h, e.Table)
	var m manifest.Table
	if err := json.Unmarshal([]byte(want[catalog.ManifestName]), &m); err != nil || len(m.Loads) < 2 {
		t.Fatalf("the undisturbed table has %d loads, %v, want several", len(m.Loads), err)
	}
	for i, at := range killsOf(len(m.Loads), testkit.All()) {
		e.Table = fmt.Sprint("killed at ", at)
		killAt(t, e, at)
		checkPrefix(t, lasting(t, h, e.Table), want)
		if i%2 == 0 && at.n < len(m.Loads) { // with a load left to be killed
			killAt(t, e, moment{breakpoint.Ledger, 1})
			checkPrefix(t, lasting(t, h, e.Table), want)
		}
		if err := h.run(t.Context(), e); err != nil {
			t.Fatalf("after a kill at %s: %v", at, err)
		}
		if diff := differ(lasting(t, h, e.Table), want); diff != "" {
			t.Errorf("killed at %s: in the end %s", at, diff)
		}
	}
}

// checkPrefix checks that a table holds the first loads of another, whole.
func checkPrefix(t *testing.T, got, want map[string]string) {
	t.Helper()
	text, ok := got[catalog.ManifestName]
	if !ok {
		return
	}
	var m, all manifest.Table
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want[catalog.ManifestName]), &all); err != nil {
		t.Fatal(err)
	}
	if len(m.Files) > len(all.Files) || len(m.Loads) > len(all.Loads) {
		t.Fatalf("it has %d files of %d loads, want at most %d of %d", len(m.Files), len(m.Loads), len(all.Files), len(all.Loads))
	}
	for i, f := range m.Files {
		if f.Name != all.Files[i].Name || got[f.Name] != want[f.Name] || got[f.Roll] != want[f.Roll] {
			t.Errorf("%s is not as in the undisturbed table", f.Name)
		}
	}
	for i, l := range m.Loads {
		if l != all.Loads[i] || got[l.Name] != want[l.Name] {
			t.Errorf("%s is not as in the undisturbed table", l.Name)
		}
	}
}

// crowd returns a fixture of the given number of users with many logins, enough for several
// parts of a result. Among every twenty users, one has a shorter play than the others, one
// plays after all logins, and one orders.
func crowd(t *testing.T, users, each int) (*fixture, testworld.Question) {
	t.Helper()
	const text = `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  login: {id: 1}
  play: {id: 2, fields: {seconds: int64}}
  order: {id: 3}
`
	h := newFixture(t, text)
	saveJob(t, h, text)
	day := behaviour.DateOf(2014, 9, 1)
	var logins, plays, orders strings.Builder
	logins.WriteString("user_id,time\n")
	plays.WriteString("user_id,time,seconds\n")
	orders.WriteString("user_id,time\n")
	for i := range each {
		for u := range users {
			fmt.Fprintf(&logins, "%05d,2014-09-01 00:%02d:%02d\n", u, i/60, i%60)
		}
	}
	for u := range users {
		switch u % 20 {
		case shortPlay:
			fmt.Fprintf(&plays, "%05d,2014-09-01 00:00:30,4\n", u)
		case latePlay:
			fmt.Fprintf(&plays, "%05d,2014-09-01 23:00:00,5\n", u)
		case whoOrders:
			fmt.Fprintf(&orders, "%05d,2014-09-01 12:00:00\n", u)
			fallthrough
		default:
			fmt.Fprintf(&plays, "%05d,2014-09-01 00:00:30,5\n", u)
		}
	}
	for name, b := range map[string]*strings.Builder{"login": &logins, "play": &plays, "order": &orders} {
		h.deliver(t, testworld.File{Name: day.String() + "/" + name + ".csv", Text: []byte(b.String())})
	}
	q := testworld.Question{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"login"}}
	h.load(t, turn{name: "trails", workers: 2, memory: 256 << 20, regions: 3}, q.Span)
	return h, q
}

// These users of every twenty in a crowd differ from the others.
const (
	shortPlay = 7
	latePlay  = 11
	whoOrders = 13
)

// severalUsers is how many users severalParts has.
const severalUsers = 500

// severalParts is a crowd whose logins make two and a half parts.
func severalParts(t *testing.T) (*fixture, testworld.Question) {
	t.Helper()
	return crowd(t, severalUsers, int(sizes.PartEvents)*5/2/severalUsers)
}

// picky is q with conditions that keep the users of a crowd who are like the others.
func picky(q testworld.Question) testworld.Question {
	q.Conditions = testworld.Conditions{
		Where:   testworld.Where{Text: `behaviour == "login" || play.seconds >= 5`},
		Having:  testworld.Having{Text: "count(play) == 1 && sum(play.seconds) > 4"},
		Steps:   []testworld.Step{{Kind: "login"}, {Kind: "play"}, {Kind: "login", Within: time.Minute}},
		Without: []string{"order"},
	}
	return q
}

// TestKilledExtractsGoOn kills extracts with SIGKILL, and continues until one is
// done. Before the end OUT does not exist. At the end it equals the result of an undisturbed
// extract, with its counts. The test does so with conditions and without, and with a query
// in which only rows tell who may stay.
func TestKilledExtractsGoOn(t *testing.T) {
	h, q := severalParts(t)
	for name, e := range map[string]childTask{
		"everything":              {Question: q},
		"conditions":              {Question: picky(q)},
		"conditions of rows only": {Question: picky(q), Unrolled: true},
		"in directories":          {Question: q, Partition: "date"},
	} {
		t.Run(name, func(t *testing.T) {
			e.Dir, e.Table, e.Out = h.dir, "trails", filepath.Join(h.dir, "clean", name)
			send(t, e)
			want := dfstest.Snapshot(t, h.fs, e.Out)
			if len(onlyParts(want)) < 3 {
				t.Fatalf("%d parts, want several", len(onlyParts(want)))
			}
			if len(e.Question.Conditions.Steps) > 0 {
				checkFunnel(t, want[place.ManifestName], severalUsers)
			}
			killOn(t, h, filepath.Join(h.dir, name), want, func(out string) childTask {
				e.Out = out
				return e
			})
		})
	}
}

// checkFunnel checks the counts of picky's query on a crowd.
func checkFunnel(t *testing.T, text string, users int64) {
	t.Helper()
	var m manifest.Extract
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if m.Found != users || m.Active != users*19/20 || m.Kept != users*17/20 {
		t.Errorf("%d found, %d active, %d kept of %d users", m.Found, m.Active, m.Kept, users)
	}
	if len(m.Sequence) != 3 || m.Sequence[0].Users != users*18/20 || m.Sequence[1].Users != users*18/20 || m.Sequence[2].Users != users*17/20 {
		t.Errorf("of %d users so many took each step: %+v", users, m.Sequence)
	}
}

// killOn kills extracts of three parts or more below a directory, and compares the results.
// It kills one extract at step after step; each run continues from the finished parts. It
// kills other extracts once, at other moments.
func killOn(t *testing.T, h *fixture, home string, want map[string]string, make func(out string) childTask) {
	t.Helper()
	check := func(e childTask, what any) {
		t.Helper()
		if diff := differ(dfstest.Snapshot(t, h.fs, e.Out), want); diff != "" {
			t.Errorf("killed at %v: in the end %s", what, diff)
		}
		if left := leftovers(t, filepath.Dir(e.Out)); len(left) > 0 {
			t.Errorf("killed at %v: in the end there is also %q", what, left)
		}
	}
	kill := func(e childTask, m moment) {
		t.Helper()
		killAt(t, e, m)
		if _, err := os.Stat(e.Out); m.step != breakpoint.Published && !errors.Is(err, iofs.ErrNotExist) {
			t.Fatalf("killed at %s: there is OUT, %v", m, err)
		}
	}

	e := make(filepath.Join(home, "on", "out"))
	steps := []string{breakpoint.Fetch, breakpoint.Part, breakpoint.Publish, breakpoint.Published}
	for _, step := range steps {
		kill(e, moment{step, 1})
	}
	if len(e.Pieces) > 0 { // of which something is left until a commit is told that they are committed
		if _, err := pieces.Commit(t.Context(), h.fs, e.Pieces); !errors.Is(err, pieces.ErrNothing) {
			t.Errorf("commit after it was published: %v, want nothing to do", err)
		}
	}
	check(e, steps)

	for _, m := range []moment{
		{breakpoint.Part, 2},
		{breakpoint.Fetch, 1}, {breakpoint.Fetch, 2}, {breakpoint.Part, 1}, {breakpoint.Part, 3}, {breakpoint.Publish, 1},
	}[:testkit.Pick(1, 6)] {
		e := make(filepath.Join(home, m.String(), "out"))
		kill(e, m)
		send(t, e)
		check(e, m)
	}
}

// TestGoingOnKeepsFinishedParts fails an extract as it writes its last part: the
// next one writes that part alone.
func TestGoingOnKeepsFinishedParts(t *testing.T) {
	h, q := severalParts(t)
	for last, o := range map[string]query.Output{
		"part-00002.parquet": {},
		"part-00002.jsonl":   {Format: query.JSONL, Partition: "behaviour"},
	} {
		u := turn{name: "trails", workers: 1, memory: 64 << 20, output: o}
		t.Run(last, func(t *testing.T) { goesOn(t, h, q, u, last) })
	}
	for _, unrolled := range []bool{false, true} {
		u := turn{name: "trails", workers: 1, memory: 64 << 20, unrolled: unrolled}
		t.Run(fmt.Sprintf("conditions, without rolls %t", unrolled), func(t *testing.T) { goesOn(t, h, picky(q), u, "part-00002.parquet") })
	}
}

// TestRollsOffIsAnotherQuestion fails an extract with its rolls as it writes its last
// part. One without rolls begins anew.
func TestRollsOffIsAnotherQuestion(t *testing.T) {
	h, q := severalParts(t)
	for _, unrolled := range []bool{false, true} {
		u := turn{name: "trails", workers: 1, memory: 64 << 20, unrolled: unrolled}
		out := filepath.Join(testkit.Scratch(t), "out")
		broken := *h
		broken.fs = refusing{h.fs, "part-00002.parquet"}
		if _, err := broken.ask(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("%v, want ErrInjected", err)
		}
		spy := &created{FS: h.fs}
		watched := *h
		watched.fs = spy
		u.unrolled = !unrolled
		if _, err := watched.ask(t.Context(), q, u, out); err != nil {
			t.Fatal(err)
		}
		if len(spy.parts) != 3 {
			t.Errorf("going on wrote %q, want all parts", spy.parts)
		}
	}
}

// goesOn asks for an answer whose last part is called last.
func goesOn(t *testing.T, h *fixture, q testworld.Question, u turn, last string) {
	t.Helper()
	home := testkit.Scratch(t)
	out := filepath.Join(home, "out")
	broken := *h
	broken.fs = refusing{h.fs, last}
	if _, err := broken.ask(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("%v, want ErrInjected", err)
	}
	spy := &created{FS: h.fs}
	watched := *h
	watched.fs = spy
	if _, err := watched.ask(t.Context(), q, u, out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(spy.parts, " "); got != last {
		t.Errorf("going on wrote %s, want the part that was not finished", got)
	}
	clean := filepath.Join(home, "clean")
	if _, err := h.ask(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	if diff := differ(dfstest.Snapshot(t, h.fs, out), dfstest.Snapshot(t, h.fs, clean)); diff != "" {
		t.Errorf("in the end %s", diff)
	}
}

// refusing is a file system that does not make files of one name.
type refusing struct {
	dfs.FS
	base string
}

func (r refusing) Create(ctx context.Context, name string) (dfs.Pending, error) {
	if dfs.Base(name) == r.base {
		return nil, fmt.Errorf("create %s: %w", name, dfstest.ErrInjected)
	}
	return r.FS.Create(ctx, name)
}

// TestTheSecondExtractIsTold starts an extract while another holds OUT's lock.
func TestTheSecondExtractIsTold(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20}
	h.load(t, u, w.Span)
	out := filepath.Join(h.dir, "out")
	lock, err := h.fs.Lock(t.Context(), filepath.Join(h.dir, ".out.lock"))
	if err != nil {
		t.Fatal(err)
	}
	q := w.Questions(1, 1)[0]
	if _, err := h.ask(t.Context(), q, u, out); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("%v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ask(t.Context(), q, u, out); err != nil {
		t.Error(err)
	}
}
