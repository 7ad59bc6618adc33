package place_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// wordy is a table of a few users with long values, and a query for all of it. Rows that
// are sorted in the least memory spill into several runs.
func wordy(t *testing.T) (*extracttest.Fixture, testworld.Query) {
	t.Helper()
	h := extracttest.New(t, `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  visit: {id: 1, fields: {page: string}}
  play: {id: 2}
`)
	day := behaviour.DateOf(2014, 9, 1)
	span := behaviour.Span{From: day, To: day + 1}
	for d := span.From; d <= span.To; d++ {
		visits, plays := "user_id,time,page\n", "user_id,time\n"
		for u := range 12 {
			visits += fmt.Sprintf("%02d,%s 00:00:01,%s\n", u, d, strings.Repeat(fmt.Sprint(u), 1200))
			plays += fmt.Sprintf("%02d,%s 00:00:02\n", u, d)
		}
		h.Deliver(t, testworld.File{Name: d.String() + "/visit.csv", Text: []byte(visits)}, testworld.File{Name: d.String() + "/play.csv", Text: []byte(plays)})
	}
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2}, span)
	return h, testworld.Query{Users: []string{"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "nobody"}, Span: span, Kinds: []string{"visit", "play"}, Active: "any"}
}

// A killed is a query whose extracts end dead, and another one to the same directory.
type killed struct {
	*extracttest.Fixture
	u     extracttest.Turn
	asked map[string]testworld.Query
	want  map[string]map[string]string
}

// TestWhateverAKilledExtractLeavesIsItsOwn ends extracts dead at each of their file
// operations. The files that remain never prevent the same extract, nor an extract with
// other workers, another query or --overwrite.
func TestWhateverAKilledExtractLeavesIsItsOwn(t *testing.T) {
	h, q := wordy(t)
	h.Sizes.SortBytes = 32 << 10
	other := q
	other.Kinds = q.Kinds[:1]
	for _, o := range []query.Output{{Format: query.CSV, Partition: "date"}, {Partition: "behaviour"}, {Format: query.JSONL}} {
		t.Run(fmt.Sprintf("%s %s", o.Format, o.Partition), func(t *testing.T) {
			k := &killed{
				Fixture: h, u: extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Output: o},
				asked: map[string]testworld.Query{"the same": q, "another": other}, want: map[string]map[string]string{},
			}
			for name, q := range k.asked {
				clean := filepath.Join(testkit.Scratch(t), "clean")
				if _, err := h.Extract(t.Context(), q, k.u, clean); err != nil {
					t.Fatal(err)
				}
				k.want[name] = dfstest.Snapshot(t, h.FS, clean)
			}
			dfstest.Sweep(t, []dfstest.Mode{dfstest.Dead, dfstest.Dead | dfstest.Torn | dfstest.Uncertain | dfstest.Lossy}, 30, k.deadAt)
		})
	}
}

// deadAt stops all operations of an extract from operation n on, and extracts again. It reports
// whether the result existed before.
func (k *killed) deadAt(t *testing.T, n int, mode dfstest.Mode) (past bool) {
	t.Helper()
	home := testkit.Scratch(t)
	out := filepath.Join(home, "out")
	fault := dfstest.FaultAt(k.FS, n, mode)
	faulty := *k.Fixture
	faulty.FS = fault
	_, err := faulty.Extract(t.Context(), k.asked["the same"], k.u, out)
	if _, there := os.Stat(out); there == nil {
		return fault.Count() <= n
	}
	if !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("dead at operation %d: %v", n, err)
	}
	u := k.u
	u.Workers, u.Overwrite = 1+n%2, n%3 == 0
	what := []string{"the same", "another"}[n/2%2]
	if _, err := k.Extract(t.Context(), k.asked[what], u, out); err != nil {
		t.Fatalf("dead at operation %d (%v), then %s query: %v", n, err, what, err)
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, k.FS, out), k.want[what]); diff != "" {
		t.Errorf("dead at operation %d, then %s query: %s", n, what, diff)
	}
	if left := extracttest.Leftovers(t, home); len(left) > 0 {
		t.Errorf("dead at operation %d, then %s query: there is also %q", n, what, left)
	}
	return false
}

// halfRemoved is a file system in which a process dies as it removes the earlier result
// that it replaced: the manifest went first.
type halfRemoved struct{ dfs.FS }

func (f halfRemoved) Remove(ctx context.Context, name string) error {
	if _, err := f.Stat(ctx, name); err != nil || !strings.HasSuffix(name, ".out.old") {
		return f.FS.Remove(ctx, name)
	}
	return errors.Join(dfstest.ErrInjected, f.FS.Remove(ctx, dfs.Join(name, place.ManifestName)))
}

// TestAHalfRemovedResultIsStillAResult replaces a result, and dies as the earlier one is
// removed. The next extract removes the rest.
func TestAHalfRemovedResultIsStillAResult(t *testing.T) {
	w, h := extracttest.Tiny(t)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}, w.Span)
	for _, partition := range []string{"", "date"} {
		u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Overwrite: true, Output: query.Output{Partition: partition}}
		home := testkit.Scratch(t)
		out := filepath.Join(home, "out")
		if _, err := h.Extract(t.Context(), q, u, out); err != nil {
			t.Fatal(err)
		}
		want := dfstest.Snapshot(t, h.FS, out)
		dying := *h
		dying.FS = halfRemoved{h.FS}
		for range 2 {
			if _, err := dying.Extract(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
				t.Fatalf("%v, want ErrInjected", err)
			}
		}
		if _, err := h.Extract(t.Context(), q, u, out); err != nil {
			t.Fatal(err)
		}
		if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), want); diff != "" {
			t.Errorf("in the end %s", diff)
		}
		if left := extracttest.Leftovers(t, home); len(left) > 0 {
			t.Errorf("in the end there is also %q", left)
		}
	}
}

// TestOnlyTheResultWaitsForStableStorage lists the files that an extract creates. Files for a later run of
// the same extract may be lost in a power cut.
func TestOnlyTheResultWaitsForStableStorage(t *testing.T) {
	h, q := wordy(t)
	made := &extracttest.Created{FS: h.FS}
	h.FS = made
	out := filepath.Join(testkit.Scratch(t), "out")
	if _, err := h.Extract(t.Context(), q, extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}, out); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what      string
		got, want []string
	}{
		{"files that last", made.Kept, []string{"part-00000.parquet", "_not-found.txt", "_manifest.json", "_SUCCESS"}},
		{"scratch files", made.Lost, []string{"_question.json", "_done-00000.json"}},
	} {
		slices.Sort(x.got)
		slices.Sort(x.want)
		if !slices.Equal(x.got, x.want) {
			t.Errorf("%s: %q, want %q", x.what, x.got, x.want)
		}
	}
}
