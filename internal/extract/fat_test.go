package extract_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// fat is a table of so many users with some plays of large values each, and a question
// for all of them.
func fat(t *testing.T, users, each, size int) (*fixture, testworld.Question) {
	t.Helper()
	h := newFixture(t, `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  play: {id: 1, fields: {title: string}}
`)
	day := behaviour.DateOf(2014, 9, 1)
	var text strings.Builder
	text.WriteString("user_id,time,title\n")
	for u := range users {
		for i := range each {
			fmt.Fprintf(&text, "%04d,2014-09-01 00:00:%02d,%s\n", u, i, title(u, i, size))
		}
	}
	h.deliver(t, testworld.File{Name: day.String() + "/play.csv", Text: []byte(text.String())})
	q := testworld.Question{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"play"}}
	h.load(t, turn{name: "trails", workers: 2, memory: 256 << 20, regions: 1}, q.Span)
	return h, q
}

// title is the large value of a user's play.
func title(user, play, size int) string {
	return strings.Repeat(fmt.Sprintf("%04d.%02d ", user, play), size/8)
}

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

// TestLargeValuesAreReadInSmallBatches extracts users who are too much for one batch: no read
// gives more than a batch may have and one value, and everybody comes out.
func TestLargeValuesAreReadInSmallBatches(t *testing.T) {
	const users, each, size = 200, 10, 2 << 10
	h, q := fat(t, users, each, size)
	w := &weighed{Table: h.opened(t, turn{name: "trails"})}
	c := h.question(t, q, w)
	c.Workers = 1
	r, err := extract.Run(t.Context(), c)
	if err != nil || r.Kept != users || r.Events != users*each {
		t.Fatalf("%+v, %v; want %d users with %d behaviours", r, err, users, users*each)
	}
	if len(w.reads) < users*each*size/sizes.BatchBytes {
		t.Errorf("%d reads", len(w.reads))
	}
	for _, n := range w.reads {
		if n > sizes.BatchBytes+2*size {
			t.Errorf("one read gave %d bytes of values, want at most %d and one value", n, sizes.BatchBytes)
		}
	}
	out := filepath.Join(testkit.Scratch(t), "out")
	if _, err := h.ask(t.Context(), q, turn{name: "trails", workers: 3}, out); err != nil {
		t.Fatal(err)
	}
	for i, row := range readTrails(t, h.fs, out) {
		u, n := i/each, i%each
		if want := title(u, n, size); row.User != fmt.Sprintf("%04d", u) || row.Values["title"] != want {
			t.Fatalf("row %d is of user %s, with the title %.20s…, want %.20s…", i, row.User, row.Values["title"], want)
		}
	}
}

// TestPartsEndByTheirBytes extracts few behaviours with large values, with different numbers
// of workers. The result has several parts. Each has as many values as a part may have, and
// the values of one more user.
func TestPartsEndByTheirBytes(t *testing.T) {
	const users, each, size = 300, 10, 2 << 10
	h, q := fat(t, users, each, size)
	var want map[string]string
	for _, workers := range []int{1, 3} {
		out := filepath.Join(testkit.Scratch(t), "out")
		r, err := h.ask(t.Context(), q, turn{name: "trails", workers: workers, output: query.Output{Format: query.CSV}}, out)
		if err != nil || r.Kept != users || r.Files < users*each*size/sizes.PartBytes {
			t.Fatalf("%+v, %v; want %d users in several files", r, err, users)
		}
		got := parts(t, h.fs, out)
		for name, text := range got {
			if len(text) > sizes.PartBytes+each*(size+100)+users*each*100 {
				t.Errorf("%s has %d bytes, and %d are about what a part has", name, len(text), sizes.PartBytes)
			}
		}
		if want == nil {
			want = got
		} else if !maps.Equal(got, want) {
			t.Errorf("%d workers write other bytes", workers)
		}
	}
}

// TestATrailLargerThanTheMemory extracts a user who cannot be held in little memory: the
// error names the user and how much memory is enough, and nothing is there.
func TestATrailLargerThanTheMemory(t *testing.T) {
	h, q := fat(t, 1, 60, 400<<10)
	c := h.question(t, q, h.opened(t, turn{name: "trails"}))
	c.Memory = memory.Least
	_, err := extract.Run(t.Context(), c)
	if !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), `user "0000"`) || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("%v, want an error that names the user and --memory", err)
	}
	if _, err := h.fs.Stat(t.Context(), c.Out); !errors.Is(err, fs.ErrNotExist) {
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
