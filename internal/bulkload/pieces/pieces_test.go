package pieces_test

import (
	"bytes"
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

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// newDelivery returns a fixture with the logs of a world. One file has a copy.
func newDelivery(t *testing.T, seed uint64) (*bulkloadtest.Fixture, *testworld.W) {
	t.Helper()
	w := testworld.World(seed, 12)
	y := bulkloadtest.New(t, w.Job())
	if err := w.WriteEarly(y.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteCopy(y.Dir); err != nil {
		t.Fatal(err)
	}
	return y, w
}

// TestPiecesMakeTheTableOfOneLoad cuts loads in every way and does their pieces in any
// order, some of them several times, by several workers at once and by workers that die.
func TestPiecesMakeTheTableOfOneLoad(t *testing.T) {
	for seed := range uint64(testkit.Pick(5, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			y, w := newDelivery(t, seed)
			from, to := w.Span.From.String(), w.Span.To.String()
			one := y.Twin()
			one.Load(nil, from, to)
			dice := rand.New(rand.NewPCG(seed, 1))
			size := []int64{1, 400, 3000, 20_000, 1 << 40}[int(seed)%5]
			parts := y.Plan(nil, size, from, to)
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
			inAnyWay(y, dice, parts)
			again := y.Plan(nil, size, from, to)
			if !slices.EqualFunc(parts, again, func(a, b pieces.Piece) bool { return bytes.Equal(a.Line(), b.Line()) }) {
				t.Error("the same plan has other lines")
			}
			dice.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			r := y.Commit(nil, append(parts, again[dice.IntN(len(again))]))
			y.Same(one)
			if r.Loads != 1 || r.Files == 0 {
				t.Errorf("committed were %+v, want all files as one load", r)
			}
			y.Commit(bulkload.ErrNothing, parts)
			if r := y.Do(&parts[0]); !r.Already {
				t.Errorf("a piece of a committed plan: %+v, want it done already", r)
			}
			y.Plan(bulkload.ErrNothing, size, from, to)
			y.Swept()
			if err := w.WriteLate(y.Dir); err != nil {
				t.Fatal(err)
			}
			if w.Counts(true).Files == w.Counts(false).Files {
				return
			}
			one.Load(nil, from, to)
			late := y.Plan(nil, size, from, to)
			y.DoAll(late)
			y.Commit(nil, late)
			y.Same(one)
		})
	}
}

// inAnyWay does pieces.
func inAnyWay(y *bulkloadtest.Fixture, dice *rand.Rand, parts []pieces.Piece) {
	y.T.Helper()
	order := append(dice.Perm(len(parts)), dice.IntN(len(parts)))
	for _, n := range order {
		p := &parts[n]
		switch dice.IntN(4) {
		case 0: // a worker dies in the middle of it
			dying := dfstest.FaultAt(local.New(), dice.IntN(60), dfstest.Dead)
			_, err := pieces.Run(y.T.Context(), y.Worker(dying), p, 0)
			if err != nil && !errors.Is(err, dfstest.ErrInjected) {
				y.T.Fatalf("a dying worker: %v", err)
			}
			y.Do(p)
		case 1: // two at once
			var both sync.WaitGroup
			done := make([]pieces.Result, 2)
			errs := make([]error, 2)
			for i := range done {
				cfg := y.Worker(local.New())
				both.Go(func() { done[i], errs[i] = pieces.Run(y.T.Context(), cfg, p, time.Minute) })
			}
			both.Wait()
			if err := errors.Join(errs...); err != nil {
				y.T.Fatal(err)
			}
			if done[0].Already == done[1].Already && !done[0].Already {
				y.T.Errorf("two workers at once both did piece %d", n)
			}
			if done[0].Counts != done[1].Counts {
				y.T.Errorf("two workers at once say %+v and %+v", done[0], done[1])
			}
		default:
			y.Do(p)
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
	y := bulkloadtest.New(t, mixedKinds)
	head := "user,time,kind,title\n"
	y.Write("2014-09-01/a.csv", head+"a,2014-09-01 10:00:00,play,x\na,2014-09-01 11:00:00,play,x\na,2014-09-01 12:00:00,order,\n")
	y.Write("2014-09-01/b.csv", head+"a,2014-09-01 13:00:00,play,x\nb,2014-09-01 13:00:00,play,x\n")
	one := y.Twin()
	one.WantCounts(one.Load(nil, "2014-09-01", "2014-09-01"), 5, 3, 0, 2, 0)
	parts := y.Plan(nil, 1, "2014-09-01", "2014-09-01")
	if len(parts) != 1 {
		t.Fatalf("%d pieces, want both files in one", len(parts))
	}
	y.DoAll(parts)
	// Another load adds one of the records that the piece found new.
	y.Write("2014-08-31/late.csv", head+"b,2014-09-01 01:00:00,play,x\n")
	y.Load(nil, "2014-08-31", "2014-08-31")
	y.Commit(piece.ErrMissing, parts)
	y.DoAll(parts)
	y.WantCounts(y.Commit(nil, parts), 5, 2, 0, 3, 0)
	got := y.Trails(false)
	if len(got) != 3 || got[0] != "a 2014-09-01 2014-09-01T10:00:00Z play title=x" || got[1] != "a 2014-09-01 2014-09-01T12:00:00Z order" ||
		got[2] != "b 2014-09-01 2014-09-01T01:00:00Z play title=x" {
		t.Errorf("the table holds %q, want a play and an order of a, and the late play of b", got)
	}
}

// TestUniqueFilesAreTiedByBehaviour has unique keys in one behaviour. Files of other behaviours
// are cut as usual.
func TestUniqueFilesAreTiedByBehaviour(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "{id: 1, ", "{id: 1, unique: [title], ", 1))
	for _, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		y.Write(day+"/play.csv", "user,time,title,seconds\na,"+day+" 10:00:00,one,1\na,"+day+" 10:00:00,one,2\n")
		y.Write(day+"/order.csv", "user,time,price\na,"+day+" 12:00:00,1.5\n")
	}
	one := y.Twin()
	one.Load(nil, "2014-09-01", "2014-09-03")
	parts := y.Plan(nil, 60, "2014-09-01", "2014-09-03")
	var sizes []int
	for _, p := range parts {
		sizes = append(sizes, len(p.Inputs))
	}
	if !slices.Equal(sizes, []int{1, 3, 1, 1}) {
		t.Errorf("the pieces have %d files, want the plays in one", sizes)
	}
	y.DoAll(parts)
	y.Commit(nil, parts)
	y.Same(one)
}

func TestABadFileOfAPieceIsLeftOut(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "50%", "1", 1))
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+",,,\n,,,\n")
	y.Write("2014-09-01/play.again.csv", "user,time,price\n") // no field of a play
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\nb,bad,1.5\n")
	one := y.Twin()
	want, err := load.Run(t.Context(), one.Config("2014-09-01", "2014-09-01"))
	if !errors.Is(err, bulkload.ErrTooBad) {
		t.Fatal(err)
	}
	for _, size := range []int64{1, 1 << 20} {
		y.Store.Dir = filepath.Join(y.Dir, fmt.Sprint("trails", size))
		parts := y.Plan(nil, size, "2014-09-01", "2014-09-01")
		y.DoAll(parts)
		got := y.Commit(bulkload.ErrTooBad, parts)
		if got.Counts != want.Counts || len(got.Failed) != len(want.Failed) || got.Files != want.Files {
			t.Errorf("committed were %+v, want %+v", got, want)
		}
		y.Same(one)
		y.Swept()
		again := y.Plan(nil, size, "2014-09-01", "2014-09-01")
		if again[0].Plan == parts[0].Plan {
			t.Error("the plan of the files that were left is the same")
		}
	}
}

// TestACommitWithNothingGoodSaysSo commits a plan whose only file has too many bad records. Each
// commit ends with the same error.
func TestACommitWithNothingGoodSaysSo(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "50%", "0", 1))
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+",,,\n")
	parts := y.Plan(nil, 1, "2014-09-01", "2014-09-01")
	y.DoAll(parts)
	for range 2 {
		r := y.Commit(bulkload.ErrTooBad, parts)
		if r.Files != 0 || len(r.Failed) != 1 || y.Quarantined("2014-09-01/play.csv") == "" {
			t.Errorf("committed were %+v, want nothing, and the bad record in quarantine", r)
		}
	}
	if _, err := y.Store.Open(t.Context()); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("the table: %v, want none", err)
	}
}

func TestLoadsBetweenPlanAndCommit(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	for _, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		y.Write(day+"/play.csv", "user,time,title,seconds\na,"+day+" 10:00:00,one,1\nz,"+day+" 10:00:00,one,2\n")
	}
	one := y.Twin()
	one.Load(nil, "2014-09-01", "2014-09-03")
	parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-02", "2014-09-03")
	y.Do(&parts[0])
	y.Load(nil, "2014-09-01", "2014-09-01") // of another day, which makes the table
	other := y.Plan(nil, 1<<30, "2014-09-02", "2014-09-03")
	y.Do(&parts[1])
	if other[0].Plan == parts[0].Plan {
		t.Error("plans of one and of two pieces are the same")
	}
	y.Commit(piece.ErrPiece, append(slices.Clone(parts), other...))
	y.Commit(piece.ErrPiece, parts[:1])
	y.Commit(piece.ErrMissing, other)
	y.Commit(nil, parts)
	y.Same(one)
	y.Commit(pieces.ErrStale, other) // the same files
	y.Plan(bulkload.ErrNothing, bulkloadtest.AFile, "2014-09-01", "2014-09-03")
	y.Swept()
	if _, err := pieces.Run(t.Context(), y.Worker(local.New()), &other[0], 0); !errors.Is(err, pieces.ErrStale) {
		t.Errorf("a piece of a plan that is out of date: %v, want ErrStale", err)
	}
}

func TestAFileThatWasLoadedMeanwhileIsNotLoadedTwice(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "09-01", "09-02"))
	parts := y.Plan(nil, 1, "2014-09-01", "2014-09-02")
	y.DoAll(parts)
	y.Load(nil, "2014-09-02", "2014-09-02")
	y.Commit(pieces.ErrStale, parts)
	again := y.Plan(nil, 1, "2014-09-01", "2014-09-02")
	y.DoAll(again)
	y.WantCounts(y.Commit(nil, again), 2, 2, 0, 0, 0)
	one := y.Twin()
	one.Load(nil, "2014-09-01", "2014-09-02")
	y.Same(one)
}

// TestBytesThatCameMeanwhileAreNoticed loads a file with the same bytes between the plan and the
// commit. The plan is then out of date.
func TestBytesThatCameMeanwhileAreNoticed(t *testing.T) {
	y := bulkloadtest.New(t, `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`)
	y.SetJob(`
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`)
	y.Write("2014-09-01/play.1.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, 1, "2014-09-01", "2014-09-01")
	y.DoAll(parts)
	y.Write("2014-08-31/play.0.csv", bulkloadtest.Plays)
	y.Load(nil, "2014-08-31", "2014-08-31")
	y.Commit(pieces.ErrStale, parts)
	again := y.Plan(nil, 1, "2014-09-01", "2014-09-01")
	y.DoAll(again)
	y.WantCounts(y.Commit(nil, again), 2, 0, 0, 2, 0)
}

// TestAFileThatChangedAfterThePlanIsLeftOut changes a file after it was planned.
func TestAFileThatChangedAfterThePlanIsLeftOut(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	parts := y.Plan(nil, 1<<30, "2014-09-01", "2014-09-01")
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+"c,2014-09-01 10:00:00,one,1\n")
	if r := y.Do(&parts[0]); len(r.Failed) != 1 || r.Loaded != 1 {
		t.Errorf("the piece is %+v, want the plays left out", r)
	}
	r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
	if err == nil || !strings.Contains(err.Error(), "play.csv") || r.Loaded != 1 {
		t.Errorf("committed were %+v, %v; want the order, and an error that names play.csv", r, err)
	}
	y.WantTrails("a 2014-09-01 2014-09-01T12:00:00Z order price=1.5")
}

// TestADamagedFileOfAPieceIsMadeAgain damages a file of a piece. The commit publishes only files
// that match the report of the piece. Otherwise it names the piece, and commits it after the
// piece has run again.
func TestADamagedFileOfAPieceIsMadeAgain(t *testing.T) {
	one := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	one.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	one.Load(nil, "2014-09-01", "2014-09-01")
	want := one.Cells()
	for damage, change := range map[string]func([]byte) []byte{
		"cut short": func(b []byte) []byte { return b[:len(b)-7] },
		"emptied":   func([]byte) []byte { return []byte{} },
		"changed":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"longer":    func(b []byte) []byte { return append(b, 'x') },
		"gone":      func([]byte) []byte { return nil },
	} {
		for _, kind := range []string{"*.hfile", "*.roll"} {
			t.Run(kind+" "+damage, func(t *testing.T) {
				y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
				y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
				parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-01")
				y.DoAll(parts)
				damageFiles(y, filepath.Join("pieces", "*", kind), change)
				r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
				if !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), "run it again, then commit") {
					t.Fatalf("commit: %v, want ErrMissing that says what to do", err)
				}
				if len(r.Failed) != 1 || r.Failed[0].Path != filepath.Join(y.Dir, "logs", "2014-09-01/play.csv") || !strings.Contains(r.Failed[0].Error, "piece 0") {
					t.Errorf("failed is %+v, want the file of piece 0", r.Failed)
				}
				y.Commit(piece.ErrMissing, parts)
				if r := y.Do(&parts[0]); r.Already {
					t.Error("the piece was not done again")
				}
				y.WantCounts(y.Commit(nil, parts), 2, 2, 0, 0, 0)
				if got := y.Cells(); !slices.Equal(got, want) {
					t.Errorf("the table has %q, want %q", got, want)
				}
			})
		}
	}
}

// damageFiles changes the only file of the table whose name matches a pattern; nil removes it.
func damageFiles(y *bulkloadtest.Fixture, pattern string, change func([]byte) []byte) {
	y.T.Helper()
	names, err := filepath.Glob(filepath.Join(y.Store.Dir, pattern))
	if err != nil || len(names) != 1 {
		y.T.Fatalf("%v, %v; want one file", names, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		y.T.Fatal(err)
	}
	if b = change(b); b == nil {
		err = os.Remove(names[0])
	} else {
		err = os.WriteFile(names[0], b, 0o644)
	}
	if err != nil {
		y.T.Fatal(err)
	}
}

func TestAPieceIsWaitedForAndGivenUp(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, 1, "2014-09-01", "2014-09-01")
	lock, err := local.New().Lock(t.Context(), filepath.Join(y.Store.Dir, "plans", parts[0].Plan, "00000.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Run(t.Context(), y.Worker(local.New()), &parts[0], 0); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("a piece that another does: %v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	y.DoAll(parts)
	y.Commit(nil, parts)
}

// TestAnyFaultOfAPieceOrItsCommitIsMadeGood fails each operation on files once, in every mode,
// and continues.
func TestAnyFaultOfAPieceOrItsCommitIsMadeGood(t *testing.T) {
	made := func(t *testing.T) *bulkloadtest.Fixture {
		y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
		y.Write("2014-09-01/play.csv", bulkloadtest.Plays+",,,\n")
		y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
		return y
	}
	one := made(t)
	one.Load(nil, "2014-09-01", "2014-09-01")
	want := one.Cells()
	modes := []dfstest.Mode{0, dfstest.Uncertain, dfstest.Dead, dfstest.Uncertain | dfstest.Dead}
	dfstest.Sweep(t, modes, 60, func(t *testing.T, n int, mode dfstest.Mode) bool {
		y := made(t)
		fs := dfstest.FaultAt(local.New(), n, mode)
		err := wholePlan(y, fs)
		if fs.Count() <= n {
			return true
		}
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("operation %d: lost the cause: %v", n, err)
		}
		if err := wholePlan(y, local.New()); err != nil && !errors.Is(err, bulkload.ErrNothing) {
			t.Fatalf("operation %d: again: %v", n, err)
		}
		if err := wholePlan(y, local.New()); !errors.Is(err, bulkload.ErrNothing) {
			t.Fatalf("operation %d: once more: %v, want ErrNothing", n, err)
		}
		if got := y.Cells(); !slices.Equal(got, want) {
			t.Fatalf("operation %d: the table has %q, want %q", n, got, want)
		}
		if y.Quarantined("2014-09-01/play.csv") == "" {
			t.Fatalf("operation %d: the bad record is lost", n)
		}
		y.Swept()
		return false
	})
}

// wholePlan plans a load on fs, runs the pieces and commits them. Two pieces are ranges of one file.
func wholePlan(y *bulkloadtest.Fixture, fs dfs.FS) error {
	cfg := y.Planning(60, "2014-09-01", "2014-09-01")
	cfg.FS, cfg.Workers = fs, 1
	cfg.Store = files.Store{FS: fs, Dir: y.Store.Dir}
	cfg.Temp = ""
	parts, _, err := pieces.Plan(y.T.Context(), cfg)
	if err != nil {
		return err
	}
	w := y.Worker(fs)
	w.Workers = 1
	for i := range parts {
		if _, err := pieces.Run(y.T.Context(), w, &parts[i], 0); err != nil {
			return err
		}
	}
	_, err = pieces.Commit(y.T.Context(), w, parts)
	return err
}

// TestDaysAreDroppedBetweenPieceAndCommit drops days. A piece with records of these days runs
// again and skips them. Loads that were committed in pieces are compacted like all others.
func TestDaysAreDroppedBetweenPieceAndCommit(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	for _, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		y.Write(day+"/play.csv", "user,time,title,seconds\na,"+day+" 00:00:01,one,1\n")
	}
	y.Write("2014-09-03/order.csv", "user,time,price\na,2014-09-02 23:59:59,1.5\na,2014-09-03 10:00:00,1.5\n")
	first := y.Plan(nil, 1, "2014-09-01", "2014-09-02")
	y.DoAll(first)
	y.Commit(nil, first)
	parts := y.Plan(nil, 1, "2014-09-03", "2014-09-03")
	y.DoAll(parts)
	cfg := upkeep.Config{FS: y.Store.FS, Store: y.Store, Memory: upkeep.MinMemory, All: true}
	if _, err := upkeep.Drop(t.Context(), cfg, bulkloadtest.Date(t, "2014-09-03")); err != nil {
		t.Fatal(err)
	}
	y.Commit(piece.ErrMissing, parts)
	y.DoAll(parts)
	r := y.Commit(nil, parts)
	y.WantCounts(r, 3, 2, 0, 0, 1)
	if r.Older != 1 {
		t.Errorf("%d records were older than the dropped days, want 1", r.Older)
	}
	if _, err := upkeep.Compact(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	y.WantTrails(
		"a 2014-09-03 2014-09-03T00:00:01Z play title=one seconds=1",
		"a 2014-09-03 2014-09-03T10:00:00Z order price=1.5",
	)
	y.Swept()
	if left, err := filepath.Glob(filepath.Join(y.Store.Dir, "pieces", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v; want that the replaced files are removed", left, err)
	}
}

// TestPartsOfFilesComeInPieces loads some behaviours of files, then all.
func TestPartsOfFilesComeInPieces(t *testing.T) {
	text := strings.Replace(mixedKinds, "unique: [title], ", "", 1)
	y := bulkloadtest.New(t, text)
	head := "user,time,kind,title\n"
	y.Write("2014-09-01/a.csv", head+"a,2014-09-01 10:00:00,play,x\na,2014-09-01 12:00:00,order,\n")
	y.Write("2014-09-01/b.csv", head+"b,2014-09-01 13:00:00,play,x\n")
	one := y.Twin()
	for _, types := range [][]string{{"play"}, nil, {"order"}} {
		want := bulkload.ErrNothing
		if len(types) == 0 || types[0] == "play" {
			want = nil
		}
		one.Load(want, "2014-09-01", "2014-09-01", types...)
		parts := y.Plan(want, 1, "2014-09-01", "2014-09-01", types...)
		if want != nil {
			continue
		}
		y.DoAll(parts)
		y.Commit(nil, parts)
		y.Same(one)
	}
}

// TestPiecesHaveNotTooManyFiles checks that a piece has at most 1000 files.
func TestPiecesHaveNotTooManyFiles(t *testing.T) {
	text := `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours: {play: {id: 1}}
`
	y := bulkloadtest.New(t, text)
	for i := range 1001 {
		y.Write(fmt.Sprintf("2014-09-01/play.%d.csv", i), fmt.Sprintf("user,time\nu%d,2014-09-01 10:00:00\n", i))
	}
	parts := y.Plan(nil, 1<<30, "2014-09-01", "2014-09-01")
	if len(parts) != 2 || len(parts[0].Inputs) != 1000 {
		t.Errorf("%d pieces, the first of %d files; want 2, of 1000", len(parts), len(parts[0].Inputs))
	}
}

func TestForeignLinesAreRefused(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-01")
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
	y.DoAll(parts)
	changed := slices.Clone(parts)
	changed[1].Table = "/elsewhere"
	y.Commit(piece.ErrPiece, changed)
	y.Commit(piece.ErrPiece, nil)
}

// TestAPieceWithADamagedReportIsDoneAgain damages the report of the second of two pieces, or replaces
// it by the report of the first. A commit drops the report. A worker that finds it does the piece again.
func TestAPieceWithADamagedReportIsDoneAgain(t *testing.T) {
	for what, damage := range map[string]func(second, first []byte) []byte{
		"cut short":        func(second, _ []byte) []byte { return second[:len(second)-5] },
		"one byte differs": func(second, _ []byte) []byte { return bytes.Replace(second, []byte("play"), []byte("plaY"), 1) },
		"of another piece": func(_, first []byte) []byte { return first },
	} {
		for _, commits := range []bool{true, false} {
			t.Run(fmt.Sprint(what, ", commit first: ", commits), func(t *testing.T) {
				y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
				y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
				y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-02"))
				parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-02")
				if len(parts) != 2 {
					t.Fatalf("%d pieces, want 2", len(parts))
				}
				y.DoAll(parts)
				dir := filepath.Join(y.Store.Dir, "plans", parts[0].Plan)
				first, second := read(t, filepath.Join(dir, "00000.json")), read(t, filepath.Join(dir, "00001.json"))
				testkit.WriteFile(t, filepath.Join(dir, "00001.json"), string(damage(second, first)))
				if commits {
					y.Commit(piece.ErrMissing, parts)
				}
				y.DoAll(parts)
				y.WantCounts(y.Commit(nil, parts), 4, 4, 0, 0, 0)
				if got := y.Trails(false); len(got) != 4 {
					t.Errorf("the table holds %q, want 4 records", got)
				}
			})
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUnmappedTextsDoNotDependOnTheWay compares the lists of one process with the lists of ranges, for
// logs with few texts and with very many texts. It refuses a file for the same reason.
func TestUnmappedTextsDoNotDependOnTheWay(t *testing.T) {
	for _, kinds := range []int{3, 40, 3 * manifest.MaxUnmapped} {
		job := "logs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind, others: skip}}\nuser: user\nbehaviours: {play: {id: 1}}\n"
		y := bulkloadtest.New(t, job)
		var log strings.Builder
		log.WriteString("user,time,kind\n")
		for i := range 3 * kinds {
			fmt.Fprintf(&log, "u%d,2014-09-01 10:00:00,play\nu%d,2014-09-01 10:00:00,text %d\n", i%5, i%7, i*i%kinds)
		}
		y.Write("2014-09-01/a.csv", log.String())
		one := y.Twin()
		r := one.Load(nil, "2014-09-01", "2014-09-01")
		parts := y.Plan(nil, int64(log.Len()/5), "2014-09-01", "2014-09-01")
		if len(parts) < 5 {
			t.Fatalf("%d pieces, want ranges", len(parts))
		}
		y.DoAll(parts)
		if got := y.Commit(nil, parts); got.Unmapped.Describe(got.Skips.Unknown) != r.Unmapped.Describe(r.Skips.Unknown) || got.Unmapped.IsZero() {
			t.Errorf("%d texts: ranges say %s, one process %s", kinds, got.Unmapped.Describe(got.Skips.Unknown), r.Unmapped.Describe(r.Skips.Unknown))
		}
		y.Same(one)
		if n := len(one.Ledgers()[0].Inputs[0].Unmapped); n == 0 || n > manifest.ListedUnmapped {
			t.Errorf("%d texts: the ledger lists %d", kinds, n)
		}

		job = strings.Replace(job, ", others: skip", "", 1)
		y.SetJob(job)
		strict := y.Twin()
		strict.Store.Dir += "strict"
		y.Store.Dir += "ranges"
		want := strict.Load(bulkload.ErrTooBad, "2014-09-01", "2014-09-01").Failed
		parts = y.Plan(nil, int64(log.Len()/5), "2014-09-01", "2014-09-01")
		y.DoAll(parts)
		if got := y.Commit(bulkload.ErrTooBad, parts).Failed; len(got) != 1 || len(want) != 1 || got[0].Error != want[0].Error || !strings.Contains(want[0].Error, "name no behaviour of the job") {
			t.Errorf("%d texts: ranges are refused for %v, the whole file for %v", kinds, got, want)
		}
	}
}
