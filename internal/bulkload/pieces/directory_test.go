package pieces_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestADirectoryInThePlaceOfAFileOfAPlan puts a directory into the place of a file of a finished piece.
// The commands that need the file end with status 1 and name the next step. They keep the directory.
// After it is removed, the plan can be committed.
func TestADirectoryInThePlaceOfAFileOfAPlan(t *testing.T) {
	const log = bulkloadtest.Plays + "c,never,three,3\n"
	one := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	one.Write("2014-08-31/play.csv", bulkloadtest.Header)
	one.Load(nil, "2014-08-31", "2014-08-31")
	one.Write("2014-09-01/play.csv", log)
	one.Load(nil, "2014-09-01", "2014-09-01")
	want := one.Cells()
	for _, x := range []struct {
		file, step string
		refuse     []string // the commands that need the file
	}{
		{"plans/*/plan.json", "remove it, and plan again", []string{"plan", "run", "commit"}},
		{"plans/*/pieces.jsonl", "remove it, and plan again", []string{"plan", "open"}},
		{"plans/*/00000.json", "remove it, and run the piece again", []string{"run", "commit"}},
		{"plans/*/*.bad", "remove it, and commit again", []string{"commit"}},
		{"pieces/*/*.hfile", "remove it, and commit again", []string{"commit"}},
		{"pieces/*/*.roll", "remove it, and commit again", []string{"commit"}},
	} {
		t.Run(x.file, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-08-31/play.csv", bulkloadtest.Header)
			y.Load(nil, "2014-08-31", "2014-08-31")
			y.Write("2014-09-01/play.csv", log)
			parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-01")
			lines := linesOf(y, 2, parts)
			y.DoAll(parts)
			name := inThePlaceOf(y, x.file)
			for _, command := range x.refuse {
				err := tryPlan(y, command, lines, parts)
				says := filepath.Base(name) + ": damaged "
				if exit.Of(err) != exit.Failed || !strings.Contains(err.Error(), says) || !strings.HasSuffix(err.Error(), ": a directory is in its place: "+x.step) {
					t.Errorf("%s: %v, status %d; want 1, %s and %s", command, err, exit.Of(err), says, x.step)
				}
			}
			if _, err := os.Stat(filepath.Join(name, "file")); err != nil {
				t.Errorf("the directory is gone: %v", err)
			}
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-01")
			y.DoAll(found(y, lines))
			err := tryPlan(y, "commit", lines, parts)
			if errors.Is(err, piece.ErrMissing) {
				y.DoAll(parts)
				err = tryPlan(y, "commit", lines, parts)
			}
			if err != nil {
				t.Error(err)
			}
			if got := y.Cells(); !slices.Equal(got, want) {
				t.Errorf("the table has %q, want %q", got, want)
			}
		})
	}
}

// tryPlan runs a command on a plan of one piece.
func tryPlan(y *bulkloadtest.Fixture, command string, lines []pieces.Line, parts []pieces.Piece) (err error) {
	ctx, fs := y.T.Context(), local.New()
	switch command {
	case "plan":
		_, _, err = pieces.Plan(ctx, y.Planning(bulkloadtest.AFile, "2014-09-01", "2014-09-01"))
	case "open":
		_, err = pieces.Open(ctx, fs, y.Store, lines)
	case "run":
		_, err = pieces.Run(ctx, y.Worker(fs), &parts[0], 0)
	case "commit":
		_, err = pieces.Commit(ctx, y.Worker(fs), parts)
	}
	return err
}

// inThePlaceOf replaces the only file of the table whose name matches a pattern by a directory.
func inThePlaceOf(y *bulkloadtest.Fixture, pattern string) (name string) {
	y.T.Helper()
	names, err := filepath.Glob(filepath.Join(y.Store.Dir, pattern))
	if err != nil || len(names) != 1 {
		y.T.Fatalf("%v, %v; want one file", names, err)
	}
	if err := os.Remove(names[0]); err != nil {
		y.T.Fatal(err)
	}
	testkit.WriteFile(y.T, filepath.Join(names[0], "file"), "")
	return names[0]
}

// TestAPieceDoesNotReplaceADirectory expects a piece to fail if a directory has the name of a file that it
// writes. The status is 1, and the message has the next step.
func TestAPieceDoesNotReplaceADirectory(t *testing.T) {
	for _, ending := range []string{".hfile", ".roll", ".bad"} {
		y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
		y.Write("2014-09-01/play.csv", bulkloadtest.Plays+"c,never,three,3\n")
		parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-01")
		name := filepath.Join(y.Store.Dir, "pieces", parts[0].Plan, "00000-0000"+ending)
		if ending == ".bad" {
			name = filepath.Join(y.Store.Plans(), parts[0].Plan, "00000-0000.bad")
		}
		testkit.WriteFile(t, filepath.Join(name, "file"), "")
		_, err := pieces.Run(t.Context(), y.Worker(local.New()), &parts[0], 0)
		if !errors.Is(err, dfs.ErrDirectory) || exit.Of(err) != exit.Failed || !strings.Contains(err.Error(), ": a directory is in its place: remove it, and run the piece again") {
			t.Errorf("%s: %v, status %d; want 1, and the next step", ending, err, exit.Of(err))
		}
	}
}

// TestAPieceSaysThatItsDirectoryIsAFile has a file with the name of the directory of the plan's HFiles. When it is removed, the piece and the
// commit work.
func TestAPieceSaysThatItsDirectoryIsAFile(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-01")
	name := filepath.Join(y.Store.Dir, "pieces", parts[0].Plan)
	testkit.WriteFile(t, name, "")
	_, err := pieces.Run(t.Context(), y.Worker(local.New()), &parts[0], 0)
	want := name + ": damaged file: something else is in the place of this directory: remove it, and run the piece again"
	if !errors.Is(err, dfs.ErrNoDirectory) || exit.Of(err) != exit.Failed || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, status %d; want 1 and %s", err, exit.Of(err), want)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	y.DoAll(parts)
	if r, err := pieces.Commit(t.Context(), y.Worker(local.New()), found(y, linesOf(y, 2, parts))); err != nil || r.Loaded == 0 {
		t.Errorf("committed: %+v, %v", r, err)
	}
}

// TestADonePieceOfAPlanThatIsGone removes the file of a plan whose piece is done. The worker says what the commit says.
func TestADonePieceOfAPlanThatIsGone(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-08-31/play.csv", bulkloadtest.Header)
	y.Load(nil, "2014-08-31", "2014-08-31")
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-01", "2014-09-01")
	y.DoAll(parts)
	for _, file := range []string{"pieces.jsonl", "plan.json"} {
		names, err := filepath.Glob(filepath.Join(y.Store.Plans(), "*", file))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		lines := linesOf(y, 2, parts)
		if err := os.Remove(names[0]); err != nil {
			t.Fatal(err)
		}
		all := found(y, lines)
		_, ran := pieces.Run(t.Context(), y.Worker(local.New()), &all[0], 0)
		_, committed := pieces.Commit(t.Context(), y.Worker(local.New()), all)
		if !errors.Is(ran, pieces.ErrStale) || committed == nil || ran.Error() != committed.Error() {
			t.Errorf("without %s: run %v, commit %v; want that the plan is gone", file, ran, committed)
		}
	}
}
