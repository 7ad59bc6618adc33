package trailfile_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// readRows reads all rows of a file with the given fields.
func readRows(t *testing.T, data []byte, fields ...string) ([]row, *trailfile.File, error) {
	t.Helper()
	f, err := trailfile.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Rows(fields...)
	if err != nil {
		return nil, f, err
	}
	defer r.Close()
	var all []row
	for {
		b, err := r.Next()
		if err == io.EOF {
			return all, f, nil
		}
		if err != nil {
			return all, f, err
		}
		for i := range b.Rows {
			x := row{user: string(b.User.At(i)), date: b.Date[i], time: b.Time[i], id: b.ID[i]}
			x.fields = append(x.fields, r.Schema().Kinds[b.Behaviour[i]])
			for j := range b.Fields {
				x.fields = append(x.fields, fieldAt(&b.Fields[j], i))
			}
			all = append(all, x)
		}
	}
}

// fieldAt returns a value as a row has it.
func fieldAt(v *trailfile.Values, i int) any {
	if !v.Valid[i] {
		return nil
	}
	switch v.Type {
	case behaviour.String:
		return string(v.Str.At(i))
	case behaviour.Double:
		return v.Double[i]
	case behaviour.Bool:
		return v.Small[i] == 1
	case behaviour.Day:
		return v.Small[i]
	}
	return v.Int[i]
}

// TestRowsAreThoseWritten reads every sample back, with all its fields and without any. A
// file that does not have one row per event must be an error.
func TestRowsAreThoseWritten(t *testing.T) {
	t.Parallel()
	for _, c := range samples() {
		data, _ := write(t, c.schema, c.opts, c.rows, 1000)
		var names []string
		long := 0
		for _, col := range c.schema.Columns {
			if slices.Contains(behaviour.Reserved, col.Name) {
				long++
			} else {
				names = append(names, col.Name)
			}
		}
		for _, fields := range [][]string{nil, names} {
			got, f, err := readRows(t, data, fields...)
			if long < len(behaviour.Reserved) {
				if !errors.Is(err, trailfile.ErrNoTrails) {
					t.Errorf("%s: got %v, want ErrNoTrails", c.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			compareRows(t, c, got, len(fields))
			compareDates(t, c, f)
		}
	}
}

func compareRows(t *testing.T, c sample, got []row, fields int) {
	t.Helper()
	if len(got) != len(c.rows) {
		t.Errorf("%s: %d rows, want %d", c.name, len(got), len(c.rows))
		return
	}
	kinds := c.schema.Columns[c.schema.Index(trailfile.BehaviourColumn)].Names
	for i, g := range got {
		w := c.rows[i]
		if g.user != w.user || g.date != w.date || g.time != w.time || g.id != w.id || g.fields[0] != kinds[w.kind] {
			t.Errorf("%s: row %d is %v, want %v", c.name, i, g, w)
			return
		}
		for j := range fields {
			if !same(g.fields[1+j], w.fields[j]) {
				t.Errorf("%s: row %d: field %d is %v, want %v", c.name, i, j, g.fields[1+j], w.fields[j])
				return
			}
		}
	}
}

func compareDates(t *testing.T, c sample, f *trailfile.File) {
	t.Helper()
	from, to, ok := f.Dates()
	if ok != (len(c.rows) > 0) {
		t.Errorf("%s: dates: %t with %d rows", c.name, ok, len(c.rows))
	}
	var dates []int32
	for _, r := range c.rows {
		dates = append(dates, r.date)
	}
	if ok && (int32(from) != slices.Min(dates) || int32(to) != slices.Max(dates)) {
		t.Errorf("%s: dates %s to %s, want %d to %d", c.name, from, to, slices.Min(dates), slices.Max(dates))
	}
}

// TestRowsRefuseWhatIsNotThere requests a field that a file does not have.
func TestRowsRefuseWhatIsNotThere(t *testing.T) {
	s := everyType()
	data, _ := write(t, s, trailfile.Options{}, people(1, s, 10, 0), 10)
	if _, _, err := readRows(t, data, "step_1"); !errors.Is(err, trailfile.ErrNoTrails) {
		t.Errorf("a missing field: got %v, want ErrNoTrails", err)
	}
}

// TestRowsOfADamagedFileAreAnError flips bytes of a small file, one at a time. Reading must
// end without a panic, and never return more rows than were written.
func TestRowsOfADamagedFileAreAnError(t *testing.T) {
	t.Parallel()
	s := everyType()
	rows := people(1, s, 40, 0.3)
	data, _ := write(t, s, trailfile.Options{GroupRows: 16, PageBytes: 64}, rows, 40)
	for i := 0; i < len(data); i += 11 {
		bad := bytes.Clone(data)
		bad[i] ^= 0x55
		f, err := trailfile.Open(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			continue
		}
		r, err := f.Rows("f_string")
		if err != nil {
			continue
		}
		n := 0
		for {
			b, err := r.Next()
			if err != nil {
				break
			}
			n += b.Rows
		}
		r.Close()
		if n > len(rows) {
			t.Errorf("byte %d flipped: %d rows of %d", i, n, len(rows))
		}
	}
}
