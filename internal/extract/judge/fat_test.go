package judge_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
)

// weighed is a table that remembers how many bytes of values one read gave.
type weighed struct {
	table.Table
	reads []int
}

func (w *weighed) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	w.reads = append(w.reads, 0)
	return w.Table.Read(ctx, q, func(c *cell.Cell) error {
		w.reads[len(w.reads)-1] += len(c.Value)
		return emit(c)
	})
}

// TestLargeValuesAreReadInSmallBatches extracts users who do not fit in one batch. No read
// returns more than the limit of a batch and one value. All users are in the result.
func TestLargeValuesAreReadInSmallBatches(t *testing.T) {
	const users, each, size = 200, 10, 2 << 10
	h, q := extracttest.Large(t, users, each, size)
	w := &weighed{Table: h.Opened(t, "trails")}
	c := h.Query(t, q, w)
	c.Workers = 1
	r, err := extract.Run(t.Context(), c)
	if err != nil || r.Kept != users || r.Events != users*each {
		t.Fatalf("%+v, %v; want %d users with %d events", r, err, users, users*each)
	}
	if len(w.reads) < users*each*size/extracttest.SmallSizes.BatchBytes {
		t.Errorf("%d reads", len(w.reads))
	}
	for _, n := range w.reads {
		if n > extracttest.SmallSizes.BatchBytes+2*size {
			t.Errorf("one read gave %d bytes of values, want at most %d and one value", n, extracttest.SmallSizes.BatchBytes)
		}
	}
	out := filepath.Join(testkit.Scratch(t), "out")
	if _, err := h.Extract(t.Context(), q, extracttest.Turn{Name: "trails", Workers: 3}, out); err != nil {
		t.Fatal(err)
	}
	for i, row := range extracttest.ReadTrails(t, h.FS, out) {
		u, n := i/each, i%each
		if want := extracttest.Title(u, n, size); row.User != fmt.Sprintf("%04d", u) || row.Values["title"] != want {
			t.Fatalf("row %d is of user %s, with the title %.20s…, want %.20s…", i, row.User, row.Values["title"], want)
		}
	}
}

// TestATrailLargerThanTheMemory extracts a user who cannot be held in little memory: the
// error names the user and the memory that is enough, and no result exists.
func TestATrailLargerThanTheMemory(t *testing.T) {
	h, q := extracttest.Large(t, 1, 60, 400<<10)
	c := h.Query(t, q, h.Opened(t, "trails"))
	c.Memory = memory.Least
	_, err := extract.Run(t.Context(), c)
	if !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), `user "0000"`) || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("%v, want an error that names the user and --memory", err)
	}
	if _, err := h.FS.Stat(t.Context(), c.Out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", c.Out, err)
	}
	_, said, _ := strings.Cut(err.Error(), "raise --memory to ")
	said, _, _ = strings.Cut(said, "MiB")
	enough, parsed := strconv.ParseInt(said, 10, 64)
	if parsed != nil {
		t.Fatalf("%v names no memory", err)
	}
	c.Memory = (enough - 1) << 20
	if _, err := extract.Run(t.Context(), c); !errors.Is(err, query.ErrWrong) {
		t.Errorf("with %d MiB: %v, want %v", enough-1, err, query.ErrWrong)
	}
	c.Memory = enough << 20
	if r, err := extract.Run(t.Context(), c); err != nil || r.Events != 60 {
		t.Errorf("with more memory %+v, %v", r, err)
	}
}
