package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
)

// now is when TTLs are counted to, in ms.
const now = 100

// A written is a cell with the number that it was written with.
type written struct {
	cell.Cell
	number int64
}

func order(a, b *written) int {
	return cmp.Or(cell.Compare(&a.Cell, &b.Cell), cmp.Compare(b.number, a.number))
}

// A model is everything that was written to a family, and the result by plain
// loops over it.
type model struct {
	dice   *rand.Rand
	family family
	rows   int // how many there can be
	flush  int // how many cells a file has at most
	all    []*written
}

func pick[T any](dice *rand.Rand, of ...T) T { return of[dice.IntN(len(of))] }

// write makes the next cell up. There are few rows, columns and times, so that
// cells meet.
func (m *model) write() {
	w := &written{number: int64(len(m.all) + 1)}
	w.Row = fmt.Appendf(nil, "row%d", m.dice.IntN(m.rows))
	w.Family = []byte("d")
	w.Time = int64(m.dice.IntN(8))
	w.Type = pick(m.dice, cell.Put, cell.Put, cell.Put, cell.Put, cell.Put, cell.Put, cell.Delete, cell.DeleteColumn, cell.DeleteFamily, cell.DeleteFamilyVersion)
	if w.Type != cell.DeleteFamily && w.Type != cell.DeleteFamilyVersion {
		w.Qualifier = []byte(pick(m.dice, "", "a", "ab", "b"))
	}
	if w.Type == cell.Put {
		w.Value = fmt.Appendf(nil, "value %d", w.number)
		if m.dice.IntN(5) == 0 {
			w.Tags = tag(tagTTL, binary.BigEndian.AppendUint64(nil, uint64(pick(m.dice, 95, now))))
		}
	}
	m.all = append(m.all, w)
}

func tag(typ byte, value []byte) []byte {
	return append(append(binary.BigEndian.AppendUint16(nil, uint16(1+len(value))), typ), value...)
}

// outlives reports whether a cell with its own TTL has not expired.
func outlives(w *written) bool {
	return len(w.Tags) == 0 || w.Time+int64(binary.BigEndian.Uint64(w.Tags[3:])) >= now
}

// hidden reports whether a delete of the row hides a Put.
func (m *model) hidden(p *written) bool {
	for _, d := range m.all {
		if !bytes.Equal(d.Row, p.Row) {
			continue
		}
		same := bytes.Equal(d.Qualifier, p.Qualifier)
		switch {
		case d.Type == cell.DeleteFamily && p.Time <= d.Time,
			d.Type == cell.DeleteFamilyVersion && p.Time == d.Time,
			d.Type == cell.DeleteColumn && same && p.Time <= d.Time,
			d.Type == cell.Delete && same && p.Time == d.Time:
			return true
		}
	}
	return false
}

// result returns the visible cells of the rows in [start, end) that the query requests.
func (m *model) result(start, end string, asked choice) []string {
	var puts []*written
	for _, w := range m.all {
		in := string(w.Row) >= start && (end == "" || string(w.Row) < end)
		if w.Type == cell.Put && in && has(asked.columns, w.Qualifier) && outlives(w) && !m.hidden(w) {
			puts = append(puts, w)
		}
	}
	slices.SortFunc(puts, order)
	var lines []string
	rows, columns, versions := map[string]bool{}, map[string]bool{}, 0
	for i, w := range puts {
		same := i > 0 && bytes.Equal(puts[i-1].Row, w.Row) && bytes.Equal(puts[i-1].Qualifier, w.Qualifier)
		if same && puts[i-1].Time == w.Time {
			continue // the one before was written later
		}
		if !same {
			versions = 0
		}
		if versions++; versions > m.family.versions || w.Time < m.family.oldest && versions > m.family.least {
			continue
		}
		if !rows[string(w.Row)] {
			clear(columns)
		}
		rows[string(w.Row)], columns[string(w.Qualifier)] = true, true
		if asked.rows > 0 && len(rows) > asked.rows || asked.perRow > 0 && len(columns) > asked.perRow {
			continue
		}
		lines = append(lines, w.Cell.String())
	}
	return lines
}

// has reports whether a qualifier is one of the requested columns.
func has(c layout.Columns, qualifier []byte) bool {
	return (c.Prefixes == nil || slices.ContainsFunc(c.Prefixes, func(p []byte) bool { return bytes.HasPrefix(qualifier, p) })) &&
		(c.From == nil || bytes.Compare(qualifier, c.From) >= 0) && (c.To == nil || bytes.Compare(qualifier, c.To) < 0)
}

// files lays everything that was written down as a store would: flushed in order,
// bulk loaded, compacted with or without the numbers, cut in halves.
func (m *model) files(t *testing.T) []*file {
	t.Helper()
	var out []*file
	for from := 0; from < len(m.all); {
		to := min(len(m.all), from+1+m.dice.IntN(m.flush))
		cells := slices.Clone(m.all[from:to])
		from = to
		slices.SortFunc(cells, order)
		a := age{seq: int64(to), name: fmt.Sprint(len(out))}
		numbered := true
		switch m.dice.IntN(3) {
		case 0: // bulk loaded: its cells have the file's number
			a.bulk, numbered = true, false
		case 1: // compacted, so long ago that numbers do not matter
			// Cells without a number are older than all that have one.
			numbered = !m.unnumbered(out)
		}
		if !numbered {
			cells = slices.DeleteFunc(cells, func(w *written) bool { return !outlives(w) })
			cells = slices.CompactFunc(cells, func(a, b *written) bool { return cell.Compare(&a.Cell, &b.Cell) == 0 })
		}
		if len(cells) == 0 {
			continue
		}
		f := m.lay(t, cells, numbered)
		f.age = a
		if m.dice.IntN(4) == 0 {
			out = append(out, halves(f, "row3")...)
		} else {
			out = append(out, f)
		}
	}
	rank(out)
	return out
}

// unnumbered reports whether all files until now have cells without numbers.
func (m *model) unnumbered(files []*file) bool {
	return !slices.ContainsFunc(files, func(f *file) bool { return f.bulk || !strings.HasPrefix(f.name, "unnumbered") })
}

// halves returns the two halves that a split makes of a file, both in one region, as after a merge
// of regions.
func halves(f *file, row string) []*file {
	bottom, top := *f, *f
	bottom.to, top.from = []byte(row), []byte(row)
	top.seq++
	return []*file{&bottom, &top}
}

func (m *model) lay(t *testing.T, cells []*written, numbered bool) *file {
	t.Helper()
	var b bytes.Buffer
	w, err := hfile.NewWriter(&b, hfile.Options{
		Codec: pick(m.dice, hfile.Plain, hfile.Snappy), Encoding: pick(m.dice, hfile.NoEncoding, hfile.FastDiff),
		BlockSize: 1 + m.dice.IntN(400), Tags: true, MVCC: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if c.MVCC = 0; numbered {
			c.MVCC = uint64(c.number)
		}
		if err := w.Add(&c.Cell); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := hfile.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return &file{name: map[bool]string{true: "numbered", false: "unnumbered"}[numbered], h: h}
}

// seen reads ranges, which ascend, by a merge.
func seen(t *testing.T, m *merge, ranges [][2]string) []string {
	t.Helper()
	var out []string
	for _, r := range ranges {
		if err := m.seek([]byte(r[0]), []byte(r[1])); err != nil {
			t.Fatal(err)
		}
		for {
			c, err := m.next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				break
			}
			out = append(out, c.String())
		}
	}
	return out
}

// TestAMergeSeesWhatPlainLoopsSee draws random cells, and their distribution over files.
func TestAMergeSeesWhatPlainLoopsSee(t *testing.T) {
	for seed := range uint64(600) {
		m := &model{dice: rand.New(rand.NewPCG(seed, 1))}
		m.family = family{oldest: pick[int64](m.dice, math.MinInt64, math.MinInt64, 3), versions: pick(m.dice, 1, 1, 2, 3, 100), now: now}
		m.family.least = pick(m.dice, 0, 0, 1, m.family.versions)
		m.rows, m.flush = pick(m.dice, 6, 6, 2, 1), pick(m.dice, 25, 25, 150)
		for range 1 + m.dice.IntN(150) {
			m.write()
		}
		files := m.files(t)
		for range 5 {
			asked := m.choice()
			ranges := pick(m.dice, [][2]string{{"", ""}}, [][2]string{{"row1", "row3"}, {"row3", "row4"}, {"row5", ""}}, [][2]string{{"", "row2"}, {"row2\x00", "row31"}})
			var want []string
			for _, r := range ranges {
				want = append(want, m.result(r[0], r[1], asked)...)
			}
			if got := seen(t, newMerge(files, m.family, asked), ranges); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %d files, %q, %+v: seen are\n%s\nwant\n%s", seed, len(files), ranges, asked, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		checkRows(t, newMerge(files, m.family, choice{}), m.result("", "", choice{}))
	}
}

// choice returns a random choice.
func (m *model) choice() choice {
	return choice{
		columns: layout.Columns{
			Prefixes: pick(m.dice, nil, nil, [][]byte{[]byte("a")}, [][]byte{[]byte("ab"), []byte("b")}),
			From:     pick(m.dice, nil, nil, []byte("a"), []byte("aa"), []byte("b")),
			To:       pick(m.dice, nil, nil, []byte("a"), []byte("b"), []byte("c")),
		},
		rows:   pick(m.dice, 0, 0, 1, 2),
		perRow: pick(m.dice, 0, 0, 1, 2),
	}
}

// checkRows goes through the rows by their first cells alone.
func checkRows(t *testing.T, m *merge, cells []string) {
	t.Helper()
	var want, got []string
	for _, c := range cells {
		row, _, _ := strings.Cut(c, "/")
		want = append(want, row)
	}
	want = slices.Compact(want)
	if err := m.seek(nil, nil); err != nil {
		t.Fatal(err)
	}
	for {
		c, err := m.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			break
		}
		got = append(got, fmt.Sprintf("%q", c.Row))
		m.leaveRow()
	}
	if !slices.Equal(got, want) {
		t.Fatalf("rows %s, want %s", got, want)
	}
}

// TestTheLaterFileWins goes through what orders files whose cells are equal.
func TestTheLaterFileWins(t *testing.T) {
	base := age{seq: 5, size: 100, bulkTime: 7, name: "b"}
	for what, later := range map[string]age{
		"a higher number":     {seq: 6, size: 500, bulkTime: 1, name: "a"},
		"the smaller file":    {seq: 5, size: 90, bulkTime: 1, name: "a"},
		"loaded later":        {seq: 5, size: 100, bulkTime: 8, name: "a"},
		"the name after that": {seq: 5, size: 100, bulkTime: 7, name: "c"},
	} {
		if base.compare(later) >= 0 || later.compare(base) <= 0 {
			t.Errorf("%s: does not come later", what)
		}
	}
}

// TestAgesAreRead reads them from names and file info.
func TestAgesAreRead(t *testing.T) {
	be := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	flushed := map[string][]byte{infoSeq: be(9)}
	loaded := map[string][]byte{infoBulkTime: be(3)}
	for _, c := range []struct {
		name string
		info map[string][]byte
		top  bool
		seq  int64
		bulk bool
	}{
		{"abc", flushed, false, 9, false},
		{"abc.parent", flushed, true, 10, false},
		{"abc_SeqId_44_", loaded, false, 44, true},
		{"abc_SeqId_44_.parent", loaded, true, 45, true},
		{"t=region-abc_SeqId_44_", loaded, false, 44, true},
		{"abc_SeqId_44_", map[string][]byte{infoKeepSeq: {0xff}}, false, 45, false},
		{"abc", loaded, false, -1, true},
		{"abc", nil, true, -1, false},
	} {
		a, err := ageOf(c.name, 1, c.info, c.top)
		if err != nil || a.seq != c.seq || a.bulk != c.bulk {
			t.Errorf("%s, %v: number %d, bulk %t, %v; want %d, %t", c.name, c.info, a.seq, a.bulk, err, c.seq, c.bulk)
		}
	}
	for _, name := range []string{"abc_SeqId_", "abc_SeqId_x_", "abc_SeqId_4"} {
		if _, err := ageOf(name, 1, nil, false); err == nil {
			t.Errorf("%s has an age", name)
		}
	}
}
