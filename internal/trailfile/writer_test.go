package trailfile_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/trailfile"
)

func TestWriteRefuses(t *testing.T) {
	s := trailfile.Schema{
		Kinds: []string{"login", "play"},
		Fields: []behaviour.Field{
			{Name: "programme", Type: behaviour.String}, {Name: "amount", Type: behaviour.Int64}, {Name: "hd", Type: behaviour.Bool}, {Name: "price", Type: behaviour.Double},
		},
	}
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
		{"a user out of order", func(b *trailfile.Batch) { b.User.Data[0] = 'z' }, `row 1 out of order: user "alice" at 100 after user "zlice" at 100`},
		{"a time out of order", func(b *trailfile.Batch) { b.Time[1] = 99 }, `row 1 out of order: user "alice" at 99 after user "alice" at 100`},
		{"a user that is not UTF-8", func(b *trailfile.Batch) { b.User.Data[11] = 0xff }, `row 2: column user_id: "b\xffb" is not UTF-8`},
		{"a string that is not UTF-8", func(b *trailfile.Batch) { b.Fields[0].Str.Data[1] = 0xc0 }, `row 1: column programme: "\xc0" is not UTF-8`},
		{"no such behaviour", func(b *trailfile.Batch) { b.Behaviour[2] = 2 }, "row 2 is of behaviour 2 of 2"},
		{"fewer dates", func(b *trailfile.Batch) { b.Date = b.Date[1:] }, "batch of 3 rows: column date has 2"},
		{"fewer times", func(b *trailfile.Batch) { b.Time = b.Time[1:] }, "column time has 2"},
		{"more behaviours", func(b *trailfile.Batch) { b.Behaviour = append(b.Behaviour, 0) }, "column behaviour has 4"},
		{"no ids", func(b *trailfile.Batch) { b.ID = nil }, "column id has 0"},
		{"fewer users", func(b *trailfile.Batch) { b.User.Off = b.User.Off[:3] }, "column user_id has 3 offsets"},
		{"users cut short", func(b *trailfile.Batch) { b.User.Data = b.User.Data[:4] }, "column user_id ends at byte 13 of 4"},
		{"a string that ends before it begins", func(b *trailfile.Batch) { b.Fields[0].Str.Off[1] = 9 }, "column programme ends before it begins in row 1"},
		{"a field too few", func(b *trailfile.Batch) { b.Fields = b.Fields[1:] }, "batch of 3 fields: the schema has 4"},
		{"a field of another type", func(b *trailfile.Batch) { b.Fields[1].Type = behaviour.Timestamp }, `column amount is "timestamp", the schema says int64`},
		{"fewer values", func(b *trailfile.Batch) { b.Fields[1].Int = b.Fields[1].Int[1:] }, "column amount has 2 values and 3 marks of validity"},
		{"fewer bools", func(b *trailfile.Batch) { b.Fields[2].Small = nil }, "column hd has 0 values"},
		{"fewer doubles", func(b *trailfile.Batch) { b.Fields[3].Double = nil }, "column price has 0 values"},
		{"fewer marks", func(b *trailfile.Batch) { b.Fields[0].Valid = nil }, "column programme has 3 values and 0 marks of validity"},
		{"rows below zero", func(b *trailfile.Batch) { b.Rows = -1 }, "batch of -1 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := good()
			c.bend(b)
			w, err := trailfile.NewWriter(new(bytes.Buffer), s, trailfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Write(b)
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

func TestOrderIsAssertedAcrossBatchesAndGroups(t *testing.T) {
	s := trailfile.Schema{Kinds: []string{"play"}}
	w, err := trailfile.NewWriter(new(bytes.Buffer), s, trailfile.Options{GroupRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []row{{user: "a", time: 1}, {user: "a", time: 1}, {user: "b", time: 0}} {
		if err := w.Write(batch(s, []row{r}, 0)); err != nil {
			t.Fatal(err)
		}
	}
	err = w.Write(batch(s, []row{{user: "a", time: 5}}, 0))
	if want := `trailfile: row 3 out of order: user "a" at 5 after user "b" at 0`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNewWriterRefuses(t *testing.T) {
	field := func(name string, typ behaviour.Type) trailfile.Schema {
		return trailfile.Schema{Fields: []behaviour.Field{{Name: "x", Type: behaviour.Bool}, {Name: name, Type: typ}}}
	}
	for _, c := range []struct {
		s    trailfile.Schema
		o    trailfile.Options
		want string
	}{
		{field("x", behaviour.Int64), trailfile.Options{}, "trailfile: field x stands twice"},
		{field("time", behaviour.Int64), trailfile.Options{}, "trailfile: field time: every trail has a column of that name"},
		{field("", behaviour.Int64), trailfile.Options{}, `trailfile: field "": a name is text, and not empty`},
		{trailfile.Schema{Kinds: []string{"pl\xff"}}, trailfile.Options{}, `trailfile: behaviour "pl\xff" is not UTF-8`},
		{field("y", "float"), trailfile.Options{}, `trailfile: field y: unknown type "float"`},
		{trailfile.Schema{Kinds: make([]string, 65)}, trailfile.Options{}, "trailfile: 65 behaviours: at most 64 in one file"},
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

// TestRowGroupsAreBoundedByBytes counts the strings of each group; the last
// value of a null must not count.
func TestRowGroupsAreBoundedByBytes(t *testing.T) {
	const limit = 2000
	s := everyType()
	rows := people(6, s, 1000, 0.5)
	rows[500].fields[0] = strings.Repeat("long", 1000) // more than the limit: a group of its own
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

// failing fails the write after n more.
type failing struct{ n int }

var errDisk = errors.New("the disk is full")

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

// TestEveryFailedWriteIsReported fails the first write of a file, then the
// second, and so on until a file gets through.
func TestEveryFailedWriteIsReported(t *testing.T) {
	s := everyType()
	rows := batch(s, people(7, s, 300, 0.3), 0)
	for n := 0; ; n++ {
		w, err := trailfile.NewWriter(&failing{n}, s, trailfile.Options{GroupRows: 100})
		if err != nil {
			t.Fatal(err)
		}
		written := w.Write(rows)
		_, closed := w.Close()
		if closed == nil {
			if written != nil {
				t.Errorf("write said %v, close nothing", written)
			}
			if n < 50 {
				t.Errorf("a file is made by %d writes", n)
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
}

func TestWriteAfterCloseIsRefused(t *testing.T) {
	s := trailfile.Schema{Kinds: []string{"play"}}
	var buf bytes.Buffer
	w, err := trailfile.NewWriter(&buf, s, trailfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	size := buf.Len()
	if err := w.Write(batch(s, []row{{user: "a"}}, 0)); err == nil {
		t.Error("wrote after close")
	}
	if _, err := w.Close(); err != nil || buf.Len() != size {
		t.Errorf("closing again: %v, and %d bytes more", err, buf.Len()-size)
	}
}
