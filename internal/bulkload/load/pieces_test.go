package load_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// twin is the same fixture with a table of its own.
func (y *fixture) twin() *fixture {
	other := *y
	other.store.Dir = filepath.Join(y.dir, "twin")
	return &other
}

// planning is a load of the fixture's that is cut into pieces of about size bytes.
func (y *fixture) planning(size int64, from, to string, types ...string) pieces.Config {
	y.t.Helper()
	text, err := os.ReadFile(y.job.Name)
	if err != nil {
		y.t.Fatal(err)
	}
	return pieces.Config{
		Config: y.config(from, to, types...), Source: pieces.Job{Name: y.job.Name, Text: string(text)},
		Address: y.store.Dir, PieceSize: size,
	}
}

// aFile is a size of pieces at which each file of plays is one piece and no file is cut.
const aFile = 120

// plan plans, and gives the pieces as their lines do.
func (y *fixture) plan(want error, size int64, from, to string, types ...string) []pieces.Piece {
	y.t.Helper()
	parts, planned, err := pieces.Plan(y.t.Context(), y.planning(size, from, to, types...))
	if !errors.Is(err, want) {
		y.t.Fatalf("plan of %s..%s: %v, want %v", from, to, err, want)
	}
	if err == nil && (planned.Pieces != len(parts) || planned.Plan != parts[0].Plan) {
		y.t.Errorf("planned are %+v, of %d pieces", planned, len(parts))
	}
	var lines bytes.Buffer
	for i := range parts {
		fmt.Fprintf(&lines, "%d\t%s\n\n", 1000*i, parts[i].Line())
	}
	again, err := pieces.ReadLines(&lines, "lines")
	if err != nil {
		y.t.Fatal(err)
	}
	found, err := pieces.Open(y.t.Context(), y.store.FS, y.store, again)
	if err != nil {
		y.t.Fatal(err)
	}
	return found
}

// worker is what does pieces.
func (y *fixture) worker(fs dfs.FS) bulkload.Resources {
	y.t.Helper()
	return bulkload.Resources{FS: fs, Store: files.Store{FS: fs, Dir: y.store.Dir}, Workers: 2, Memory: 8 << 20, Temp: y.t.TempDir()}
}

func (y *fixture) do(p *pieces.Piece) pieces.Result {
	y.t.Helper()
	r, err := pieces.Run(y.t.Context(), y.worker(local.New()), p, time.Minute)
	if err != nil {
		y.t.Fatalf("piece %d of %d: %v", p.Piece, p.Of, err)
	}
	if err := r.Check(); err != nil {
		y.t.Error(err)
	}
	return r
}

func (y *fixture) doAll(parts []pieces.Piece) {
	y.t.Helper()
	for i := range parts {
		y.do(&parts[i])
	}
}

func (y *fixture) commit(want error, parts []pieces.Piece) bulkload.Result {
	y.t.Helper()
	r, err := pieces.Commit(y.t.Context(), y.worker(local.New()), parts)
	if !errors.Is(err, want) {
		y.t.Fatalf("commit of %d pieces: %v, want %v", len(parts), err, want)
	}
	if err := r.Check(); err != nil {
		y.t.Error(err)
	}
	return r
}

// cells are all that the table holds, in order.
func (y *fixture) cells() []string {
	y.t.Helper()
	t, err := y.store.Open(y.t.Context())
	if err != nil {
		y.t.Fatal(err)
	}
	defer t.Close()
	var out []string
	err = t.Read(y.t.Context(), table.Query{
		Ranges: func(yield func(split.Region) bool) { yield(split.Region{}) },
		Span:   behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate},
	}, func(c *cell.Cell) error {
		out = append(out, fmt.Sprintf("%q %q %d %q", c.Row, c.Qualifier, c.Time, c.Value))
		return nil
	})
	if err != nil {
		y.t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// known are the delivered files that the table knows, in order, and the days of all
// loads added up.
func (y *fixture) known() (inputs []string, days map[string]manifest.Day) {
	y.t.Helper()
	days = map[string]manifest.Day{}
	for _, l := range y.ledgers() {
		for _, in := range l.Inputs {
			b, err := json.Marshal(in)
			if err != nil {
				y.t.Fatal(err)
			}
			inputs = append(inputs, string(b))
		}
		for _, d := range l.Days {
			sum := days[d.Behaviour+d.Date.String()]
			sum.Date, sum.Behaviour = d.Date, d.Behaviour
			sum.Records += d.Records
			sum.Tally.Add(d.Tally)
			days[d.Behaviour+d.Date.String()] = sum
		}
	}
	slices.Sort(inputs)
	return inputs, days
}

// bad are all bad records, by the name of their file.
func (y *fixture) bad() map[string]string {
	y.t.Helper()
	out := map[string]string{}
	all, err := filepath.Glob(filepath.Join(y.store.Dir, "quarantine", "*"))
	if err != nil {
		y.t.Fatal(err)
	}
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			y.t.Fatal(err)
		}
		out[filepath.Base(name)] = string(b)
	}
	return out
}

// same fails unless two tables hold the same and know the same.
func (y *fixture) same(other *fixture) {
	y.t.Helper()
	if got, want := y.cells(), other.cells(); !slices.Equal(got, want) {
		y.t.Errorf("the table of pieces has %d cells, of one load %d: %s", len(got), len(want), difference(got, want))
	}
	inputs, days := y.known()
	wantInputs, wantDays := other.known()
	if !slices.Equal(inputs, wantInputs) {
		y.t.Errorf("known are\n%s\nwant\n%s", strings.Join(inputs, "\n"), strings.Join(wantInputs, "\n"))
	}
	if fmt.Sprint(days) != fmt.Sprint(wantDays) {
		y.t.Errorf("the days are\n%v\nwant\n%v", days, wantDays)
	}
	if got, want := y.bad(), other.bad(); fmt.Sprint(got) != fmt.Sprint(want) {
		y.t.Errorf("bad records are\n%q\nwant\n%q", got, want)
	}
	if !slices.Equal(y.trails(true), other.trails(true)) {
		y.t.Error("the users' trails differ")
	}
}

// difference is the first that differs.
func difference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("cell %d is %s, want %s", i, got[i], want[i])
		}
	}
	return "one has more"
}

// swept fails if something of a plan is left but the files of the table.
func (y *fixture) swept() {
	y.t.Helper()
	if left, err := os.ReadDir(filepath.Join(y.store.Dir, "plans")); err == nil && len(left) > 0 {
		y.t.Errorf("plans are left: %v", left)
	}
	t, err := y.store.Open(y.t.Context())
	if err != nil {
		y.t.Fatal(err)
	}
	defer t.Close()
	if _, err := t.Recover(y.t.Context()); err != nil {
		y.t.Fatal(err)
	}
	named := map[string]bool{}
	for _, f := range t.(*files.Table).Files() {
		named[f.Name], named[f.Roll] = true, true
	}
	for name := range dfstest.Snapshot(y.t, local.New(), y.store.Dir) {
		name = strings.TrimPrefix(strings.TrimPrefix(name, y.store.Dir), "/")
		if strings.HasPrefix(name, "pieces/") && strings.Contains(filepath.Base(name), ".") && !named[name] {
			y.t.Errorf("%s is left, and the manifest does not name it", name)
		}
	}
}

// newDelivery is a world's logs in a fixture, one file of them twice.
func newDelivery(t *testing.T, seed uint64) (*fixture, *testworld.W) {
	t.Helper()
	w := testworld.World(seed, 12)
	y := &fixture{t: t, dir: testkit.Scratch(t)}
	y.store = files.Store{FS: local.New(), Dir: filepath.Join(y.dir, "trails")}
	if err := w.WriteEarly(y.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteCopy(y.dir); err != nil {
		t.Fatal(err)
	}
	y.jobIs(w.Job())
	return y, w
}

// jobIs makes text the fixture's job file.
func (y *fixture) jobIs(text string) {
	y.t.Helper()
	name := filepath.Join(y.dir, "job.yaml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		y.t.Fatal(err)
	}
	y.is(text)
}

// TestPiecesMakeTheTableOfOneLoad cuts loads in every way and does their pieces in any
// order, some of them several times, by several workers at once and by workers that die.
func TestPiecesMakeTheTableOfOneLoad(t *testing.T) {
	for seed := range uint64(testkit.Pick(5, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			y, w := newDelivery(t, seed)
			from, to := w.Span.From.String(), w.Span.To.String()
			one := y.twin()
			one.load(nil, from, to)
			dice := rand.New(rand.NewPCG(seed, 1))
			size := []int64{1, 400, 3000, 20_000, 1 << 40}[int(seed)%5]
			parts := y.plan(nil, size, from, to)
			if size == 1 && len(parts) < 10 || size == 1<<40 && len(parts) != 1 {
				t.Errorf("%d pieces of %d bytes", len(parts), size)
			}
			ranges := 0
			for _, p := range parts {
				if p.Inputs[0].Range != nil {
					ranges++
				}
			}
			if size <= 400 && ranges < 3 {
				t.Errorf("%d pieces of %d bytes are ranges, want many", ranges, size)
			}
			y.inAnyWay(dice, parts)
			again := y.plan(nil, size, from, to)
			if !slices.EqualFunc(parts, again, func(a, b pieces.Piece) bool { return bytes.Equal(a.Line(), b.Line()) }) {
				t.Error("the same plan has other lines")
			}
			dice.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			r := y.commit(nil, append(parts, again[dice.IntN(len(again))]))
			y.same(one)
			if r.Loads != 1 || r.Files == 0 {
				t.Errorf("committed were %+v, want all files as one load", r)
			}
			y.commit(bulkload.ErrNothing, parts)
			if r := y.do(&parts[0]); !r.Already {
				t.Errorf("a piece of a committed plan: %+v, want it done already", r)
			}
			y.plan(bulkload.ErrNothing, size, from, to)
			y.swept()
			if err := w.WriteLate(y.dir); err != nil {
				t.Fatal(err)
			}
			if w.Counts(true).Files == w.Counts(false).Files {
				return
			}
			one.load(nil, from, to)
			late := y.plan(nil, size, from, to)
			y.doAll(late)
			y.commit(nil, late)
			y.same(one)
		})
	}
}

// inAnyWay does pieces.
func (y *fixture) inAnyWay(dice *rand.Rand, parts []pieces.Piece) {
	y.t.Helper()
	order := append(dice.Perm(len(parts)), dice.IntN(len(parts)))
	for _, n := range order {
		p := &parts[n]
		switch dice.IntN(4) {
		case 0: // a worker dies in the middle of it
			dying := dfstest.FaultAt(local.New(), dice.IntN(60), dfstest.Dead)
			_, err := pieces.Run(y.t.Context(), y.worker(dying), p, 0)
			if err != nil && !errors.Is(err, dfstest.ErrInjected) {
				y.t.Fatalf("a dying worker: %v", err)
			}
			y.do(p)
		case 1: // two at once
			var both sync.WaitGroup
			done := make([]pieces.Result, 2)
			errs := make([]error, 2)
			for i := range done {
				cfg := y.worker(local.New())
				both.Go(func() { done[i], errs[i] = pieces.Run(y.t.Context(), cfg, p, time.Minute) })
			}
			both.Wait()
			if err := errors.Join(errs...); err != nil {
				y.t.Fatal(err)
			}
			if done[0].Already == done[1].Already && !done[0].Already {
				y.t.Errorf("two workers at once both did piece %d", n)
			}
			if done[0].Counts != done[1].Counts {
				y.t.Errorf("two workers at once say %+v and %+v", done[0], done[1])
			}
		default:
			y.do(p)
		}
	}
}

const mixedKinds = `
logs: {path: "logs/{date}/*.csv", behaviour: kind, max_bad: 1}
user: user
behaviours:
  play: {id: 1, unique: [title], fields: {title: string}}
  order: {id: 2}
`

// TestUniqueKeysStayTogether has files whose records may be duplicates of each other. They are
// one piece. A load in the meantime makes the piece check its records again.
func TestUniqueKeysStayTogether(t *testing.T) {
	y := newFixture(t, mixedKinds)
	y.jobIs(mixedKinds)
	head := "user,time,kind,title\n"
	y.write("2014-09-01/a.csv", head+"a,2014-09-01 10:00:00,play,x\na,2014-09-01 11:00:00,play,x\na,2014-09-01 12:00:00,order,\n")
	y.write("2014-09-01/b.csv", head+"a,2014-09-01 13:00:00,play,x\nb,2014-09-01 13:00:00,play,x\n")
	one := y.twin()
	one.wantCounts(one.load(nil, "2014-09-01", "2014-09-01"), 5, 3, 0, 2, 0)
	parts := y.plan(nil, 1, "2014-09-01", "2014-09-01")
	if len(parts) != 1 {
		t.Fatalf("%d pieces, want both files in one", len(parts))
	}
	y.doAll(parts)
	// Another load brings one of the records that the piece found new.
	y.write("2014-08-31/late.csv", head+"b,2014-09-01 01:00:00,play,x\n")
	y.load(nil, "2014-08-31", "2014-08-31")
	y.commit(piece.ErrMissing, parts)
	y.doAll(parts)
	y.wantCounts(y.commit(nil, parts), 5, 2, 0, 3, 0)
	got := y.trails(false)
	if len(got) != 3 || got[0] != "a 2014-09-01 2014-09-01T10:00:00Z play title=x" || got[1] != "a 2014-09-01 2014-09-01T12:00:00Z order" ||
		got[2] != "b 2014-09-01 2014-09-01T01:00:00Z play title=x" {
		t.Errorf("the table holds %q, want a play and an order of a, and the late play of b", got)
	}
}

// TestUniqueFilesAreTiedByBehaviour has unique keys in one behaviour. Files of other behaviours
// are cut as usual.
func TestUniqueFilesAreTiedByBehaviour(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(strings.Replace(twoKinds, "{id: 1, ", "{id: 1, unique: [title], ", 1))
	for _, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		y.write(day+"/play.csv", "user,time,title,seconds\na,"+day+" 10:00:00,one,1\na,"+day+" 10:00:00,one,2\n")
		y.write(day+"/order.csv", "user,time,price\na,"+day+" 12:00:00,1.5\n")
	}
	one := y.twin()
	one.load(nil, "2014-09-01", "2014-09-03")
	parts := y.plan(nil, 60, "2014-09-01", "2014-09-03")
	var sizes []int
	for _, p := range parts {
		sizes = append(sizes, len(p.Inputs))
	}
	if !slices.Equal(sizes, []int{1, 3, 1, 1}) {
		t.Errorf("the pieces have %d files, want the plays in one", sizes)
	}
	y.doAll(parts)
	y.commit(nil, parts)
	y.same(one)
}

func TestABadFileOfAPieceIsLeftOut(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(strings.Replace(twoKinds, "50%", "1", 1))
	y.write("2014-09-01/play.csv", plays+",,,\n,,,\n")
	y.write("2014-09-01/play.again.csv", "user,time,price\n") // no field of a play
	y.write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\nb,bad,1.5\n")
	one := y.twin()
	want, err := load.Run(t.Context(), one.config("2014-09-01", "2014-09-01"))
	if !errors.Is(err, bulkload.ErrTooBad) {
		t.Fatal(err)
	}
	for _, size := range []int64{1, 1 << 20} {
		y.store.Dir = filepath.Join(y.dir, fmt.Sprint("trails", size))
		parts := y.plan(nil, size, "2014-09-01", "2014-09-01")
		y.doAll(parts)
		got := y.commit(bulkload.ErrTooBad, parts)
		if got.Counts != want.Counts || len(got.Failed) != len(want.Failed) || got.Files != want.Files {
			t.Errorf("committed were %+v, want %+v", got, want)
		}
		y.same(one)
		y.swept()
		again := y.plan(nil, size, "2014-09-01", "2014-09-01")
		if again[0].Plan == parts[0].Plan {
			t.Error("the plan of the files that were left is the same")
		}
	}
}

// TestACommitWithNothingGoodSaysSo: it is as bad when it is asked again.
func TestACommitWithNothingGoodSaysSo(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(strings.Replace(twoKinds, "50%", "0", 1))
	y.write("2014-09-01/play.csv", plays+",,,\n")
	parts := y.plan(nil, 1, "2014-09-01", "2014-09-01")
	y.doAll(parts)
	for range 2 {
		r := y.commit(bulkload.ErrTooBad, parts)
		if r.Files != 0 || len(r.Failed) != 1 || y.quarantined("2014-09-01/play.csv") == "" {
			t.Errorf("committed were %+v, want nothing, and the bad record in quarantine", r)
		}
	}
	if _, err := y.store.Open(t.Context()); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("the table: %v, want none", err)
	}
}

func TestLoadsBetweenPlanAndCommit(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	for _, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		y.write(day+"/play.csv", "user,time,title,seconds\na,"+day+" 10:00:00,one,1\nz,"+day+" 10:00:00,one,2\n")
	}
	one := y.twin()
	one.load(nil, "2014-09-01", "2014-09-03")
	parts := y.plan(nil, aFile, "2014-09-02", "2014-09-03")
	y.do(&parts[0])
	y.load(nil, "2014-09-01", "2014-09-01") // of another day, which makes the table
	other := y.plan(nil, 1<<30, "2014-09-02", "2014-09-03")
	y.do(&parts[1])
	if other[0].Plan == parts[0].Plan {
		t.Error("plans of one and of two pieces are the same")
	}
	y.commit(piece.ErrPiece, append(slices.Clone(parts), other...))
	y.commit(piece.ErrPiece, parts[:1])
	y.commit(piece.ErrMissing, other)
	y.commit(nil, parts)
	y.same(one)
	y.commit(pieces.ErrStale, other) // the same files
	y.plan(bulkload.ErrNothing, aFile, "2014-09-01", "2014-09-03")
	y.swept()
	if _, err := pieces.Run(t.Context(), y.worker(local.New()), &other[0], 0); !errors.Is(err, pieces.ErrStale) {
		t.Errorf("a piece of a plan that is out of date: %v, want ErrStale", err)
	}
}

func TestAFileThatWasLoadedMeanwhileIsNotLoadedTwice(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	y.write("2014-09-01/play.csv", plays)
	y.write("2014-09-02/play.csv", strings.ReplaceAll(plays, "09-01", "09-02"))
	parts := y.plan(nil, 1, "2014-09-01", "2014-09-02")
	y.doAll(parts)
	y.load(nil, "2014-09-02", "2014-09-02")
	y.commit(pieces.ErrStale, parts)
	again := y.plan(nil, 1, "2014-09-01", "2014-09-02")
	y.doAll(again)
	y.wantCounts(y.commit(nil, again), 2, 2, 0, 0, 0)
	one := y.twin()
	one.load(nil, "2014-09-01", "2014-09-02")
	y.same(one)
}

// TestBytesThatCameMeanwhileAreNoticed: a duplicate that no plan foresaw.
func TestBytesThatCameMeanwhileAreNoticed(t *testing.T) {
	y := newFixture(t, `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`)
	y.jobIs(`
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`)
	y.write("2014-09-01/play.1.csv", plays)
	parts := y.plan(nil, 1, "2014-09-01", "2014-09-01")
	y.doAll(parts)
	y.write("2014-08-31/play.0.csv", plays)
	y.load(nil, "2014-08-31", "2014-08-31")
	y.commit(pieces.ErrStale, parts)
	again := y.plan(nil, 1, "2014-09-01", "2014-09-01")
	y.doAll(again)
	y.wantCounts(y.commit(nil, again), 2, 0, 0, 2, 0)
}

// TestAFileThatChangedAfterThePlanIsLeftOut changes a file after it was planned.
func TestAFileThatChangedAfterThePlanIsLeftOut(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	y.write("2014-09-01/play.csv", plays)
	y.write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	parts := y.plan(nil, 1<<30, "2014-09-01", "2014-09-01")
	y.write("2014-09-01/play.csv", plays+"c,2014-09-01 10:00:00,one,1\n")
	if r := y.do(&parts[0]); len(r.Failed) != 1 || r.Loaded != 1 {
		t.Errorf("the piece is %+v, want the plays left out", r)
	}
	r, err := pieces.Commit(t.Context(), y.worker(local.New()), parts)
	if err == nil || !strings.Contains(err.Error(), "play.csv") || r.Loaded != 1 {
		t.Errorf("committed were %+v, %v; want the order, and an error that names play.csv", r, err)
	}
	y.wantTrails("a 2014-09-01 2014-09-01T12:00:00Z order price=1.5")
}

// TestADamagedFileOfAPieceIsMadeAgain damages a file of a piece. The commit publishes only files
// that match the report of the piece. Otherwise it names the piece, and commits it after the
// piece has run again.
func TestADamagedFileOfAPieceIsMadeAgain(t *testing.T) {
	one := newFixture(t, twoKinds)
	one.write("2014-09-01/play.csv", plays)
	one.load(nil, "2014-09-01", "2014-09-01")
	want := one.cells()
	for damage, change := range map[string]func([]byte) []byte{
		"cut short": func(b []byte) []byte { return b[:len(b)-7] },
		"emptied":   func([]byte) []byte { return []byte{} },
		"changed":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"longer":    func(b []byte) []byte { return append(b, 'x') },
		"gone":      func([]byte) []byte { return nil },
	} {
		for _, kind := range []string{"*.hfile", "*.roll"} {
			t.Run(kind+" "+damage, func(t *testing.T) {
				y := newFixture(t, twoKinds)
				y.jobIs(twoKinds)
				y.write("2014-09-01/play.csv", plays)
				parts := y.plan(nil, aFile, "2014-09-01", "2014-09-01")
				y.doAll(parts)
				y.damage(filepath.Join("pieces", "*", kind), change)
				r, err := pieces.Commit(t.Context(), y.worker(local.New()), parts)
				if !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), "run it again, then commit") {
					t.Fatalf("commit: %v, want ErrMissing that says what to do", err)
				}
				if len(r.Failed) != 1 || r.Failed[0].Path != "2014-09-01/play.csv" || !strings.Contains(r.Failed[0].Error, "piece 0") {
					t.Errorf("failed is %+v, want the file of piece 0", r.Failed)
				}
				y.commit(piece.ErrMissing, parts)
				if r := y.do(&parts[0]); r.Already {
					t.Error("the piece was not done again")
				}
				y.wantCounts(y.commit(nil, parts), 2, 2, 0, 0, 0)
				if got := y.cells(); !slices.Equal(got, want) {
					t.Errorf("the table has %q, want %q", got, want)
				}
			})
		}
	}
}

// damage changes the only file of the table whose name matches a pattern; nil removes it.
func (y *fixture) damage(pattern string, change func([]byte) []byte) {
	y.t.Helper()
	names, err := filepath.Glob(filepath.Join(y.store.Dir, pattern))
	if err != nil || len(names) != 1 {
		y.t.Fatalf("%v, %v; want one file", names, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		y.t.Fatal(err)
	}
	if b = change(b); b == nil {
		err = os.Remove(names[0])
	} else {
		err = os.WriteFile(names[0], b, 0o644)
	}
	if err != nil {
		y.t.Fatal(err)
	}
}

func TestAPieceIsWaitedForAndGivenUp(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	y.write("2014-09-01/play.csv", plays)
	parts := y.plan(nil, 1, "2014-09-01", "2014-09-01")
	lock, err := local.New().Lock(t.Context(), filepath.Join(y.store.Dir, "plans", parts[0].Plan, "00000.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Run(t.Context(), y.worker(local.New()), &parts[0], 0); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("a piece that another does: %v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	y.doAll(parts)
	y.commit(nil, parts)
}

// TestAnyFaultOfAPieceOrItsCommitIsMadeGood fails each operation on files once, in every mode,
// and continues.
func TestAnyFaultOfAPieceOrItsCommitIsMadeGood(t *testing.T) {
	made := func(t *testing.T) *fixture {
		y := newFixture(t, twoKinds)
		y.jobIs(twoKinds)
		y.write("2014-09-01/play.csv", plays+",,,\n")
		y.write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
		return y
	}
	one := made(t)
	one.load(nil, "2014-09-01", "2014-09-01")
	want := one.cells()
	modes := []dfstest.Mode{0, dfstest.Uncertain, dfstest.Dead, dfstest.Uncertain | dfstest.Dead}
	dfstest.Sweep(t, modes, 60, func(t *testing.T, n int, mode dfstest.Mode) bool {
		y := made(t)
		fs := dfstest.FaultAt(local.New(), n, mode)
		err := y.wholePlan(fs)
		if fs.Count() <= n {
			return true
		}
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("operation %d: lost the cause: %v", n, err)
		}
		if err := y.wholePlan(local.New()); err != nil && !errors.Is(err, bulkload.ErrNothing) {
			t.Fatalf("operation %d: again: %v", n, err)
		}
		if err := y.wholePlan(local.New()); !errors.Is(err, bulkload.ErrNothing) {
			t.Fatalf("operation %d: once more: %v, want ErrNothing", n, err)
		}
		if got := y.cells(); !slices.Equal(got, want) {
			t.Fatalf("operation %d: the table has %q, want %q", n, got, want)
		}
		if y.quarantined("2014-09-01/play.csv") == "" {
			t.Fatalf("operation %d: the bad record is lost", n)
		}
		y.swept()
		return false
	})
}

// wholePlan plans on fs, runs the pieces, two of which are ranges of one file, and commits.
func (y *fixture) wholePlan(fs dfs.FS) error {
	cfg := y.planning(60, "2014-09-01", "2014-09-01")
	cfg.FS, cfg.Workers = fs, 1
	cfg.Store = files.Store{FS: fs, Dir: y.store.Dir}
	cfg.Temp = ""
	parts, _, err := pieces.Plan(y.t.Context(), cfg)
	if err != nil {
		return err
	}
	w := y.worker(fs)
	w.Workers = 1
	for i := range parts {
		if _, err := pieces.Run(y.t.Context(), w, &parts[i], 0); err != nil {
			return err
		}
	}
	_, err = pieces.Commit(y.t.Context(), w, parts)
	return err
}

// TestDaysAreDroppedBetweenPieceAndCommit drops days. A piece with records of these days runs
// again and skips them. Loads that were committed in pieces are compacted like all others.
func TestDaysAreDroppedBetweenPieceAndCommit(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	for _, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		y.write(day+"/play.csv", "user,time,title,seconds\na,"+day+" 00:00:01,one,1\n")
	}
	y.write("2014-09-03/order.csv", "user,time,price\na,2014-09-02 23:59:59,1.5\na,2014-09-03 10:00:00,1.5\n")
	first := y.plan(nil, 1, "2014-09-01", "2014-09-02")
	y.doAll(first)
	y.commit(nil, first)
	parts := y.plan(nil, 1, "2014-09-03", "2014-09-03")
	y.doAll(parts)
	cfg := upkeep.Config{FS: y.store.FS, Store: y.store, Memory: upkeep.MinMemory, All: true}
	if _, err := upkeep.Drop(t.Context(), cfg, date(t, "2014-09-03")); err != nil {
		t.Fatal(err)
	}
	y.commit(piece.ErrMissing, parts)
	y.doAll(parts)
	r := y.commit(nil, parts)
	y.wantCounts(r, 3, 2, 0, 0, 1)
	if r.Older != 1 {
		t.Errorf("%d records were older than what was dropped, want 1", r.Older)
	}
	if _, err := upkeep.Compact(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	y.wantTrails(
		"a 2014-09-03 2014-09-03T00:00:01Z play title=one seconds=1",
		"a 2014-09-03 2014-09-03T10:00:00Z order price=1.5",
	)
	y.swept()
	if left, err := filepath.Glob(filepath.Join(y.store.Dir, "pieces", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v; want nothing left of what was compacted", left, err)
	}
}

// TestPartsOfFilesComeInPieces loads some behaviours of files, then all.
func TestPartsOfFilesComeInPieces(t *testing.T) {
	text := strings.Replace(mixedKinds, "unique: [title], ", "", 1)
	y := newFixture(t, text)
	y.jobIs(text)
	head := "user,time,kind,title\n"
	y.write("2014-09-01/a.csv", head+"a,2014-09-01 10:00:00,play,x\na,2014-09-01 12:00:00,order,\n")
	y.write("2014-09-01/b.csv", head+"b,2014-09-01 13:00:00,play,x\n")
	one := y.twin()
	for _, types := range [][]string{{"play"}, nil, {"order"}} {
		want := bulkload.ErrNothing
		if len(types) == 0 || types[0] == "play" {
			want = nil
		}
		one.load(want, "2014-09-01", "2014-09-01", types...)
		parts := y.plan(want, 1, "2014-09-01", "2014-09-01", types...)
		if want != nil {
			continue
		}
		y.doAll(parts)
		y.commit(nil, parts)
		y.same(one)
	}
}

// TestPiecesHaveNotTooManyFiles: a line is handed to a process.
func TestPiecesHaveNotTooManyFiles(t *testing.T) {
	text := `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours: {play: {id: 1}}
`
	y := newFixture(t, text)
	y.jobIs(text)
	for i := range 1001 {
		y.write(fmt.Sprintf("2014-09-01/play.%d.csv", i), fmt.Sprintf("user,time\nu%d,2014-09-01 10:00:00\n", i))
	}
	parts := y.plan(nil, 1<<30, "2014-09-01", "2014-09-01")
	if len(parts) != 2 || len(parts[0].Inputs) != 1000 {
		t.Errorf("%d pieces, the first of %d files; want 2, of 1000", len(parts), len(parts[0].Inputs))
	}
}

func TestForeignLinesAreRefused(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	y.write("2014-09-01/play.csv", plays)
	y.write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	parts := y.plan(nil, aFile, "2014-09-01", "2014-09-01")
	good := string(parts[0].Line())
	for what, line := range map[string]string{
		"no JSON":              "hello",
		"another object":       `{"read":5}`,
		"of an extract":        strings.Replace(good, `"usertrail":"load"`, `"usertrail":"extract"`, 1),
		"of another version":   strings.Replace(good, `"version":1`, `"version":2`, 1),
		"a number too high":    strings.Replace(good, `"piece":0`, `"piece":2`, 1),
		"a plan that is a way": strings.Replace(good, parts[0].Plan, "../../elsewhere", 1),
		"cut short":            good[:len(good)-5],
	} {
		if _, err := pieces.ReadLines(strings.NewReader("\n"+line+"\n"), "FILE"); !errors.Is(err, piece.ErrPiece) || !strings.Contains(err.Error(), "FILE: ") {
			t.Errorf("%s: %v, want ErrPiece that names the file", what, err)
		}
	}
	y.doAll(parts)
	changed := slices.Clone(parts)
	changed[1].Table = "/elsewhere"
	y.commit(piece.ErrPiece, changed)
	y.commit(piece.ErrPiece, nil)
	// The plan and the number in a report tell whose report it is.
	dir := filepath.Join(y.store.Dir, "plans", parts[0].Plan)
	b, err := os.ReadFile(filepath.Join(dir, "00000.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "00001.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	y.commit(manifest.ErrDamaged, parts)
}
