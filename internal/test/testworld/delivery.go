package testworld

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/behaviour"
	"usertrail/internal/column"
)

// A File is one delivered file.
type File struct {
	Name    string // path below the logs' root: 2014-09-01/play.0.csv.gz
	Text    []byte // decompressed
	Records int    // bad ones included
	Bad     int
	Late    bool // it arrives after a first load

	date behaviour.Date
	kind int
}

// near is the distance from midnight within which a record may be in the wrong file.
const near = 3600 * second

// A slot is a possible place of a record: the file of a day, kind and delivery.
type slot struct {
	date behaviour.Date
	kind int
	late bool
}

// deliver distributes all acts over files, and sets the ID of each from its place.
func (w *W) deliver(r *rand.Rand) {
	slots := map[slot][]*act{}
	for _, a := range w.acts {
		s := slot{w.fileDate(r, a), a.kind, false}
		s.late = mix(w.Seed, uint64(s.date), uint64(s.kind))%4 == 0 && r.IntN(2) == 0
		a.late = s.late
		slots[s] = append(slots[s], a)
	}
	where := map[string][]*act{}
	seen := map[string]bool{}
	for _, late := range []bool{false, true} {
		for d := w.Span.From; d <= w.Span.To; d++ {
			for k := range kinds {
				s := slot{d, k, late}
				if acts := slots[s]; len(acts) > 0 || !late && r.IntN(3) == 0 {
					f, placed := w.file(r, s, acts)
					for f.Records > 0 && seen[string(f.Text)] {
						f.add(w.badLine(r, s)) // otherwise it would be a copy, and no record of it would be loaded
					}
					seen[string(f.Text)] = true
					where[f.Name] = placed
					w.Files = append(w.Files, f)
				}
			}
		}
	}
	w.number(where)
	slices.SortFunc(w.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	w.Missing, w.MissingEarly = w.missing(true), w.missing(false)
}

// fileDate returns the day of a. Near midnight it sometimes returns the neighbouring day.
func (w *W) fileDate(r *rand.Rand, a *act) behaviour.Date {
	d := w.date(a)
	switch {
	case r.IntN(2) == 0:
	case d > w.Span.From && !w.quiet(d-1, a.kind) && a.micros-d.Start(w.zone).UnixMicro() < near:
		return d - 1
	case d < w.Span.To && !w.quiet(d+1, a.kind) && (d+1).Start(w.zone).UnixMicro()-a.micros < near:
		return d + 1
	}
	return d
}

// file writes one file, with bad lines among the good. It stores the offset of each act in
// its id until the file has a number.
func (w *W) file(r *rand.Rand, s slot, acts []*act) (File, []*act) {
	f := File{Name: w.fileName(s), Late: s.late, date: s.date, kind: s.kind}
	r.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	eol := "\n"
	if mix(w.Seed, 2, uint64(s.date), uint64(s.kind))%4 == 0 {
		eol = "\r\n"
	}
	var b bytes.Buffer
	b.WriteString(header(s.kind) + eol)
	for i, a := range acts {
		if r.IntN(15) == 0 {
			b.WriteString(w.badLine(r, s) + eol)
			f.Bad++
		}
		a.id = int64(b.Len())
		b.WriteString(w.line(a))
		if i < len(acts)-1 || r.IntN(3) > 0 {
			b.WriteString(eol)
		}
	}
	f.Text, f.Records = b.Bytes(), f.Bad+len(acts)
	return f, acts
}

// add appends a bad line to f.
func (f *File) add(line string) {
	if !bytes.HasSuffix(f.Text, []byte("\n")) {
		f.Text = append(f.Text, '\n')
	}
	f.Text = append(append(f.Text, line...), '\n')
	f.Records++
	f.Bad++
}

func (w *W) fileName(s slot) string {
	name := fmt.Sprintf("%s/%s.0.csv", s.date, kinds[s.kind].Name)
	if s.late {
		name = fmt.Sprintf("%s/%s.late.csv", s.date, kinds[s.kind].Name)
	}
	return name + []string{"", "", ".gz", ".zst"}[mix(w.Seed, 3, uint64(s.date), uint64(s.kind))%4]
}

// number sets the column ID of every act. Numbers are assigned in the order of deliveries
// and, within one delivery, of names.
func (w *W) number(where map[string][]*act) {
	slices.SortFunc(w.Files, func(a, b File) int {
		if a.Late != b.Late {
			return map[bool]int{false: -1, true: 1}[a.Late]
		}
		return strings.Compare(a.Name, b.Name)
	})
	taken := map[uint32]bool{}
	for _, f := range w.Files {
		n, err := column.Number(f.Name, func(n uint32) bool { return !taken[n] })
		if err != nil {
			panic("testworld: " + err.Error()) // a few dozen files of 33 million possible ones
		}
		taken[n] = true
		for _, a := range where[f.Name] {
			a.id = column.ID(n, a.id)
		}
	}
}

// missing counts the pairs of day and behaviour without a file.
func (w *W) missing(late bool) int {
	have := map[slot]bool{}
	for _, f := range w.Files {
		if late || !f.Late {
			have[slot{f.date, f.kind, false}] = true
		}
	}
	return w.Span.Days()*len(kinds) - len(have)
}

// header returns the names of the columns. The columns of order are in another order, and one
// name is Chinese.
func header(kind int) string {
	columns := []string{"who", "when"}
	for _, f := range kinds[kind].Fields {
		columns = append(columns, csvName(kind, f.Name))
	}
	if kind == order {
		slices.Reverse(columns)
	}
	return strings.Join(columns, ",")
}

func csvName(kind int, field string) string {
	if kind == playlist && field == "title" {
		return "片名"
	}
	return field
}

func (w *W) line(a *act) string {
	when := w.local(a.micros)
	if a.kind == order {
		when = strconv.FormatInt(a.micros, 10)
	}
	columns := []string{a.user, when}
	for _, f := range a.fields {
		columns = append(columns, f.written)
	}
	if a.kind == order {
		slices.Reverse(columns)
	}
	return csvLine(columns)
}

// csvLine quotes the columns that need it, and sometimes others.
func csvLine(columns []string) string {
	var out []string
	for i, c := range columns {
		if strings.ContainsAny(c, ",\"\r\n") || strings.HasPrefix(c, " ") || strings.HasSuffix(c, " ") || c != "" && (i+len(c))%7 == 3 {
			c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
		out = append(out, c)
	}
	return strings.Join(out, ",")
}

// badLine returns a line that must be quarantined.
func (w *W) badLine(r *rand.Rand, s slot) string {
	a := &act{user: "bad", kind: s.kind, micros: s.date.Start(w.zone).UnixMicro() + 12*3600*second, fields: make([]field, len(kinds[s.kind].Fields))}
	switch r.IntN(5) {
	case 0: // no user
		a.user = ""
	case 1: // a day beyond the slack
		a.micros += []int64{-5, 5}[r.IntN(2)] * 86400 * second
	case 2: // not UTF-8
		a.user = "bad\xff"
	case 3: // too long for a row
		a.user = strings.Repeat("x", behaviour.MaxUserLen+1)
	default:
		return w.line(a) + ",surplus"
	}
	return w.line(a)
}

// Counts are the expected counts of a load of everything, or of the first delivery.
type Counts struct {
	Files, Read, Loaded, Quarantined, Missing int
}

// Counts returns the expected counts of loading the files of the first delivery or, with
// late, of both deliveries.
func (w *W) Counts(late bool) Counts {
	c := Counts{Missing: w.MissingEarly}
	if late {
		c.Missing = w.Missing
	}
	for _, f := range w.Files {
		if f.Late && !late {
			continue
		}
		c.Files++
		c.Read += f.Records
		c.Quarantined += f.Bad
		c.Loaded += f.Records - f.Bad
	}
	return c
}

// WriteLogs delivers all files below dir/logs.
func (w *W) WriteLogs(dir string) error {
	return w.write(dir, func(File) bool { return true })
}

// WriteEarly delivers the files of the first delivery.
func (w *W) WriteEarly(dir string) error {
	return w.write(dir, func(f File) bool { return !f.Late })
}

// WriteLate delivers the files of the late delivery.
func (w *W) WriteLate(dir string) error {
	return w.write(dir, func(f File) bool { return f.Late })
}

// WriteCopy delivers the bytes of a file of the first delivery again under another name. It returns the
// number of the records of the file. All of them are duplicates.
func (w *W) WriteCopy(dir string) (records int, err error) {
	for _, f := range w.Files {
		if !f.Late && f.Records > 0 && f.Bad == 0 {
			f.Name = strings.Replace(f.Name, ".0.csv", ".copy.csv", 1)
			return f.Records, f.Write(dir)
		}
	}
	return 0, fmt.Errorf("testworld: world %d has no file of good records", w.Seed)
}

func (w *W) write(dir string, wanted func(File) bool) error {
	for _, f := range w.Files {
		if wanted(f) {
			if err := f.Write(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write writes the file below dir/logs, compressed by the ending of its name.
func (f File) Write(dir string) error {
	body, err := f.compressed()
	if err != nil {
		return fmt.Errorf("testworld: compress %s: %w", f.Name, err)
	}
	name := filepath.Join(dir, "logs", filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("testworld: %w", err)
	}
	if err := os.WriteFile(name, body, 0o644); err != nil {
		return fmt.Errorf("testworld: %w", err)
	}
	return nil
}

// compressed returns the file's bytes on disk.
func (f File) compressed() ([]byte, error) {
	var b bytes.Buffer
	switch filepath.Ext(f.Name) {
	case ".gz":
		z := gzip.NewWriter(&b)
		if _, err := z.Write(f.Text); err != nil {
			return nil, err
		}
		err := z.Close()
		return b.Bytes(), err
	case ".zst":
		z, err := zstd.NewWriter(nil)
		if err != nil {
			return nil, err
		}
		return z.EncodeAll(f.Text, nil), nil
	}
	return f.Text, nil
}

// mix scatters numbers, for choices that must not depend on the order in which they are made.
func mix(words ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, x := range words {
		h = (h ^ x) * 0xbf58476d1ce4e5b9
		h ^= h >> 29
	}
	return h
}
