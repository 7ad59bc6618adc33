package trailfile_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

func TestWriteRefuses(t *testing.T) {
	s := trailfile.Long([]string{"login", "play"}, 0, []behaviour.Field{
		{Name: "programme", Type: behaviour.String}, {Name: "amount", Type: behaviour.Int64}, {Name: "hd", Type: behaviour.Bool}, {Name: "price", Type: behaviour.Double},
	})
	good := func() *trailfile.Batch {
		return batch(s, []row{
			{"alice", 1, 100, 0, 1, []any{"a", int64(1), true, 1.0}},
			{"alice", 1, 100, 0, 1, []any{"a", nil, nil, nil}},
			{"bob", 1, 50, 1, 1, []any{nil, nil, nil, nil}},
		}, 1)
	}
	for _, c := range []struct {
		name string
		bend func(b *trailfile.Batch)
		want string
	}{
		{"a user out of order", func(b *trailfile.Batch) { b.Columns[0].Str.Data[0] = 'z' }, `row 1 out of order: user "alice" at 100 after user "zlice" at 100`},
		{"a time out of order", func(b *trailfile.Batch) { b.Columns[2].Int[1] = 99 }, `row 1 out of order: user "alice" at 99 after user "alice" at 100`},
		{"a user that is not UTF-8", func(b *trailfile.Batch) { b.Columns[0].Str.Data[11] = 0xff }, `row 2: column user_id: "b\xffb" is not UTF-8`},
		{"a string that is not UTF-8", func(b *trailfile.Batch) { b.Columns[5].Str.Data[1] = 0xc0 }, `row 1: column programme: "\xc0" is not UTF-8`},
		{"a character that is divided between two strings", func(b *trailfile.Batch) { copy(b.Columns[5].Str.Data, "éx") }, `row 0: column programme: "\xc3" is not UTF-8`},
		{"no such behaviour", func(b *trailfile.Batch) { b.Columns[3].Code[2] = 2 }, "column behaviour is in row 2 number 2 of 2"},
		{"fewer dates", func(b *trailfile.Batch) { b.Columns[1].Small = b.Columns[1].Small[1:] }, "batch of 3 rows: column date has 2"},
		{"fewer times", func(b *trailfile.Batch) { b.Columns[2].Int = b.Columns[2].Int[1:] }, "column time has 2"},
		{"more behaviours", func(b *trailfile.Batch) { b.Columns[3].Code = append(b.Columns[3].Code, 0) }, "column behaviour has 4"},
		{"no ids", func(b *trailfile.Batch) { b.Columns[4].Int = nil }, "column id has 0"},
		{"fewer users", func(b *trailfile.Batch) { b.Columns[0].Str.Off = b.Columns[0].Str.Off[:3] }, "column user_id has 3 offsets"},
		{"users cut short", func(b *trailfile.Batch) { b.Columns[0].Str.Data = b.Columns[0].Str.Data[:4] }, "column user_id ends at byte 13 of 4"},
		{"a string that ends before it begins", func(b *trailfile.Batch) { b.Columns[5].Str.Off[1] = 9 }, "column programme ends before it begins in row 1"},
		{"a column too few", func(b *trailfile.Batch) { b.Columns = b.Columns[1:] }, "batch of 8 columns: the schema has 9"},
		{"a field of another type", func(b *trailfile.Batch) { b.Columns[6].Type = behaviour.Timestamp }, `column amount is "timestamp", the schema says int64`},
		{"fewer values", func(b *trailfile.Batch) { b.Columns[6].Int = b.Columns[6].Int[1:] }, "column amount has 2 values and 3 marks of validity"},
		{"fewer bools", func(b *trailfile.Batch) { b.Columns[7].Small = nil }, "column hd has 0 values"},
		{"fewer doubles", func(b *trailfile.Batch) { b.Columns[8].Double = nil }, "column price has 0 values"},
		{"fewer marks", func(b *trailfile.Batch) { b.Columns[5].Valid = nil }, "column programme has 3 values and 0 marks of validity"},
		{"rows below zero", func(b *trailfile.Batch) { b.Rows = -1 }, "batch of -1 rows"},
	} {
		for _, f := range formats {
			t.Run(f.name+", "+c.name, func(t *testing.T) {
				b := good()
				c.bend(b)
				w := f.begin(t, new(bytes.Buffer), s)
				err := w.Write(b)
				if err == nil || !strings.HasPrefix(err.Error(), "trailfile: ") || !strings.HasSuffix(err.Error(), c.want) && !strings.Contains(err.Error(), c.want+" ") {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if again := w.Write(good()); again != err {
					t.Errorf("writing on: got %v, want the same error", again)
				}
				if _, closed := w.Close(); closed != err {
					t.Errorf("close: got %v, want the same error", closed)
				}
			})
		}
	}
}

func TestOrderIsAssertedAcrossBatches(t *testing.T) {
	s := trailfile.Long([]string{"play"}, 0, nil)
	for _, f := range formats {
		w := f.begin(t, new(bytes.Buffer), s)
		for _, r := range []row{{user: "a", time: 1}, {user: "a", time: 1}, {user: "b", time: 0}} {
			if err := w.Write(batch(s, []row{r}, 0)); err != nil {
				t.Fatal(err)
			}
		}
		err := w.Write(batch(s, []row{{user: "a", time: 5}}, 0))
		if want := `trailfile: row 3 out of order: user "a" at 5 after user "b" at 0`; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", f.name, err, want)
		}
	}
}

// TestAWideFileHasAUserOnce writes a user twice, in one batch and in two.
func TestAWideFileHasAUserOnce(t *testing.T) {
	s := trailfile.Wide([]string{"play"}, trailfile.WideColumns, 0)
	of := func(user string) row { return row{user: user, fields: []any{int64(1), int64(5), int64(5), int64(1)}} }
	for _, f := range formats {
		for _, batches := range [][][]row{{{of("a"), of("a")}}, {{of("a")}, {of("a")}}} {
			w := f.begin(t, new(bytes.Buffer), s)
			var err error
			for _, rows := range batches {
				err = w.Write(batch(s, rows, 0))
			}
			if want := `trailfile: row 1 out of order: user "a" after user "a"`; err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", f.name, err, want)
			}
		}
	}
}

func TestNewWriterRefuses(t *testing.T) {
	field := func(name string, typ behaviour.Type) trailfile.Schema {
		return trailfile.Long(nil, 1, []behaviour.Field{{Name: "x", Type: behaviour.Bool}, {Name: name, Type: typ}})
	}
	for _, c := range []struct {
		s    trailfile.Schema
		o    trailfile.Options
		want string
	}{
		{field("x", behaviour.Int64), trailfile.Options{}, "trailfile: column x occurs twice"},
		{field("step_1", behaviour.Int64), trailfile.Options{}, "trailfile: column step_1 occurs twice"},
		{field("time", behaviour.Int64), trailfile.Options{}, "trailfile: field time: every trail has a column of that name"},
		{field("", behaviour.Int64), trailfile.Options{}, `trailfile: column "": a name is text, and not empty`},
		{trailfile.Long([]string{"pl\xff"}, 0, nil), trailfile.Options{}, `trailfile: behaviour "pl\xff" is not UTF-8`},
		{field("y", "float"), trailfile.Options{}, `trailfile: column y: unknown type "float"`},
		{trailfile.Long(make([]string, 1025), 0, nil), trailfile.Options{}, "trailfile: 1025 behaviours: at most 1024 in one file"},
		{trailfile.Schema{}, trailfile.Options{}, "trailfile: the first column is not user_id"},
		{trailfile.Schema{Columns: field("y", behaviour.Int64).Columns, Order: 1}, trailfile.Options{}, "trailfile: rows cannot be sorted by column 1"},
		{trailfile.Schema{}, trailfile.Options{Codec: "gzip"}, `trailfile: codec "gzip": want zstd, snappy or none`},
		{trailfile.Schema{}, trailfile.Options{GroupRows: -1}, "trailfile: row groups of -1 rows: want 1..16777216"},
		{trailfile.Schema{}, trailfile.Options{GroupBytes: 1 << 30}, "trailfile: row groups of 1073741824 bytes: want 1..536870912"},
		{trailfile.Schema{}, trailfile.Options{PageBytes: -5}, "trailfile: pages of -5 bytes"},
	} {
		if _, err := trailfile.NewWriter(new(bytes.Buffer), c.s, c.o); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestRowGroupsAreCutAtExactRows(t *testing.T) {
	s := everyType()
	rows := people(5, s, 2500, 0.3)
	data, meta := write(t, s, trailfile.Options{GroupRows: 1000}, rows, 333)
	var got []int64
	for _, g := range open(t, data).Metadata().RowGroups {
		got = append(got, g.NumRows)
	}
	if len(got) != 3 || got[0] != 1000 || got[1] != 1000 || got[2] != 500 || meta.Groups != 3 {
		t.Errorf("row groups of %v rows, meta %+v; want 1000, 1000, 500", got, meta)
	}
	if meta.First != rows[0].user || meta.Last != rows[2499].user {
		t.Errorf("users %q to %q, want %q to %q", meta.First, meta.Last, rows[0].user, rows[2499].user)
	}
}

// TestRowGroupsAreBoundedByBytes counts the strings of each group. The bytes in the place of
// a null must not count.
func TestRowGroupsAreBoundedByBytes(t *testing.T) {
	const limit = 2000
	s := everyType()
	rows := people(6, s, 1000, 0.5)
	rows[500].fields[0] = strings.Repeat("long", 1000) // more than the limit, so it needs its own group
	data, _ := write(t, s, trailfile.Options{GroupBytes: limit}, rows, 100)
	begin := 0
	size := func(r row) int {
		text, _ := r.fields[0].(string)
		return len(r.user) + len(text)
	}
	groups := open(t, data).Metadata().RowGroups
	for i, g := range groups {
		sum := 0
		for _, r := range rows[begin : begin+int(g.NumRows)] {
			sum += size(r)
		}
		begin += int(g.NumRows)
		if sum > limit && g.NumRows > 1 {
			t.Errorf("group %d has %d bytes of strings in %d rows", i, sum, g.NumRows)
		}
		if begin < len(rows) && sum+size(rows[begin]) <= limit {
			t.Errorf("group %d ends at row %d, which would have fitted", i, begin)
		}
	}
}

// failing fails after n successful writes.
type failing struct{ n int }

var errDisk = errors.New("the disk is full")

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

// TestEveryFailedWriteIsReported fails the first write of a file, then the second, and so on
// until a file is complete.
func TestEveryFailedWriteIsReported(t *testing.T) {
	t.Parallel()
	s := everyType()
	rows := batch(s, people(7, s, 3000, 0.3), 0)
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for n := 0; ; n++ {
				w := f.begin(t, &failing{n}, s)
				written := w.Write(rows)
				_, closed := w.Close()
				if closed == nil {
					if written != nil {
						t.Errorf("write said %v, close nothing", written)
					}
					if n < f.writes {
						t.Errorf("a file is made by %d writes, want at least %d", n, f.writes)
					}
					return
				}
				if !errors.Is(closed, errDisk) {
					t.Fatalf("write %d failed: close said %v", n, closed)
				}
				if _, again := w.Close(); again != closed {
					t.Fatalf("write %d failed: close said %v, then %v", n, closed, again)
				}
			}
		})
	}
}

func TestWriteAfterCloseIsRefused(t *testing.T) {
	s := trailfile.Long([]string{"play"}, 0, nil)
	for _, f := range formats {
		var buf bytes.Buffer
		w := f.begin(t, &buf, s)
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		size := buf.Len()
		if err := w.Write(batch(s, []row{{user: "a"}}, 0)); !errors.Is(err, trailfile.ErrClosed) {
			t.Errorf("%s: write after close: %v, want ErrClosed", f.name, err)
		}
		if _, err := w.Close(); err != nil || buf.Len() != size {
			t.Errorf("%s: closing again: %v, and %d bytes more", f.name, err, buf.Len()-size)
		}
	}
}
