package extract_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
)

// damages are ways in which a file can be damaged between two commands.
var damages = []struct {
	name string
	do   func(t *testing.T, name string)
}{
	{"emptied", func(t *testing.T, name string) { rewrite(t, name, func([]byte) []byte { return nil }) }},
	{"cut short", func(t *testing.T, name string) { rewrite(t, name, func(b []byte) []byte { return b[:len(b)-1] }) }},
	{"changed", func(t *testing.T, name string) {
		rewrite(t, name, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	}},
	{"longer", func(t *testing.T, name string) { rewrite(t, name, func(b []byte) []byte { return append(b, '\n') }) }},
	{"gone", func(t *testing.T, name string) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}},
}

func rewrite(t *testing.T, name string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, change(b), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGoingOnWritesDamagedPartsAgain fails an extract at its end, and damages a file of a
// finished part, or the record of one. The same extract writes that part again, and those
// after it.
func TestGoingOnWritesDamagedPartsAgain(t *testing.T) {
	h, q := severalParts(t)
	for what, x := range map[string]struct {
		output query.Output
		file   string
	}{
		"a part":                   {file: "part-00001.parquet"},
		"a file of a part":         {query.Output{Format: query.JSONL, Partition: "behaviour"}, "behaviour=login/part-00001.jsonl"},
		"the record of a part":     {file: "_done-00001.json"},
		"the last part of several": {file: "part-00002.parquet"},
	} {
		u := turn{name: "trails", workers: 2, memory: 64 << 20, output: x.output}
		home := testkit.Scratch(t)
		clean := filepath.Join(home, "clean")
		if _, err := h.ask(t.Context(), q, u, clean); err != nil {
			t.Fatal(err)
		}
		want := dfstest.Snapshot(t, h.fs, clean)
		for i, damage := range damages {
			if damage.name == "changed" && strings.HasPrefix(x.file, "_") {
				continue // the record may still be one
			}
			t.Run(what+" is "+damage.name, func(t *testing.T) {
				out := filepath.Join(home, fmt.Sprint("out", i))
				broken := *h
				broken.fs = refusing{h.fs, place.SuccessName}
				if _, err := broken.ask(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
					t.Fatalf("%v, want ErrInjected", err)
				}
				damage.do(t, filepath.Join(home, "."+filepath.Base(out)+".partial", x.file))
				if _, err := h.ask(t.Context(), q, u, out); err != nil {
					t.Fatal(err)
				}
				if diff := differ(dfstest.Snapshot(t, h.fs, out), want); diff != "" {
					t.Errorf("in the end %s", diff)
				}
			})
		}
	}
}

// TestCommitFindsDamagedParts damages a file of a piece that is done: before the commit, or
// after a commit was killed that had brought the parts together. The commit names the piece
// and publishes nothing; the piece is done again, and then the commit makes the answer.
func TestCommitFindsDamagedParts(t *testing.T) {
	h, q := severalParts(t)
	q.Users = []string{"nobody", "00003", "00250", "00499"}
	for i := range 400 {
		q.Users = append(q.Users, fmt.Sprintf("%05d", i))
	}
	u := turn{name: "trails", workers: 1, pieceSize: sizes.PartEvents / 2}
	clean := filepath.Join(h.dir, "clean")
	if _, err := h.ask(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, h.fs, clean)
	for _, x := range []struct {
		file   string
		killed bool // the commit, before
	}{
		{"_piece-00001/part-00000.parquet", false},
		{"_piece-*/" + notfound.FileName, false},
		{"_answer/part-00001.parquet", true},
	} {
		for i, damage := range damages {
			t.Run(x.file+" is "+damage.name, func(t *testing.T) {
				out := filepath.Join(h.dir, fmt.Sprint(strings.ReplaceAll(x.file, "/", "-"), i))
				list := linesOf(t, h, childTask{Question: q, Out: out}, u)
				if _, err := h.do(t.Context(), u, list); err != nil || len(list) < 2 {
					t.Fatalf("%d pieces, %v", len(list), err)
				}
				if x.killed {
					if _, err := pieces.Commit(t.Context(), refusing{h.fs, place.SuccessName}, list); !errors.Is(err, dfstest.ErrInjected) {
						t.Fatalf("%v, want ErrInjected", err)
					}
				}
				names, err := filepath.Glob(filepath.Join(h.dir, "."+filepath.Base(out)+".partial", x.file))
				if err != nil || len(names) != 1 {
					t.Fatalf("%q, %v; want one file", names, err)
				}
				damage.do(t, names[0])
				commitsAgain(t, h, u, list)
				if diff := differ(dfstest.Snapshot(t, h.fs, out), want); diff != "" {
					t.Errorf("in the end %s", diff)
				}
			})
		}
	}
}

// commitsAgain commits pieces, one of which is damaged, does them again and commits them.
func commitsAgain(t *testing.T, h *fixture, u turn, list []pieces.Piece) {
	t.Helper()
	for range 2 {
		_, err := pieces.Commit(t.Context(), h.fs, list)
		if !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), "piece ") {
			t.Errorf("commit: %v, want ErrMissing that names the piece", err)
		}
		if _, err := os.Stat(list[0].Out); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("--out is there: %v", err)
		}
	}
	again := 0
	for i := range list {
		r, err := h.do(t.Context(), u, list[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if !r.Already {
			again++
		}
	}
	if again != 1 {
		t.Errorf("%d pieces were done again, want one", again)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, list); err != nil {
		t.Fatal(err)
	}
}

// TestAnEmptyPartIsChecked damages the part that an answer of nobody has.
func TestAnEmptyPartIsChecked(t *testing.T) {
	h, q := crowd(t, 20, 1)
	q.Users = []string{"nobody"}
	u := turn{name: "trails", workers: 1, pieceSize: 1}
	for i, damage := range damages {
		out := filepath.Join(h.dir, fmt.Sprint("out", i))
		list := linesOf(t, h, childTask{Question: q, Out: out}, u)
		if _, err := h.do(t.Context(), u, list); err != nil {
			t.Fatal(err)
		}
		partial := filepath.Join(h.dir, "."+filepath.Base(out)+".partial")
		damage.do(t, filepath.Join(partial, "_none/part-00000.parquet"))
		if _, err := pieces.Commit(t.Context(), h.fs, list); err == nil || !strings.Contains(err.Error(), "plan again") {
			t.Errorf("%s: commit: %v, want an error that says what to do", damage.name, err)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: --out is there: %v", damage.name, err)
		}
	}
}
