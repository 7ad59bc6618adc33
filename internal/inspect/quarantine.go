package inspect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// A Quarantine holds the bad records of a quarantine file, or of a folder of them.
type Quarantine struct {
	Files   int           `json:"files,omitempty"` // of a folder
	Records int64         `json:"records"`
	Reasons []ReasonCount `json:"reasons"` // in the order in which a record is checked
	Paths   []PathCount   `json:"paths"`   // delivered files, sorted
	First   []BadRecord   `json:"first"`
}

// A ReasonCount is the number of records that are bad for one reason.
type ReasonCount struct {
	Reason  record.Reason `json:"reason"`
	Records int64         `json:"records"`
}

// A PathCount is the number of bad records of a delivered file.
type PathCount struct {
	Path    string `json:"path"`
	Records int64  `json:"records"`
}

// A BadRecord is a line of a quarantine file.
type BadRecord struct {
	Path   string        `json:"path"`
	Line   int64         `json:"line"`
	Offset int64         `json:"offset"` // offset of the record in the file's text
	Reason record.Reason `json:"reason"`
	Detail string        `json:"detail"`
	Raw    string        `json:"raw"`
	Base64 []byte        `json:"raw_base64,omitempty"` // in place of Raw if the record is not UTF-8
	Cut    bool          `json:"cut,omitempty"`        // Raw is only the beginning of the record
}

func (l *look) quarantine(r *Report, f dfs.File) error {
	t := l.newQuarantineCount()
	if err := t.add(f); err != nil {
		return err
	}
	r.Quarantine = t.finish()
	return nil
}

// quarantines reports the quarantine files of a directory. found is false if the directory has none. It returns an
// error if the directory also has other files with the ending of quarantine files.
func (l *look) quarantines(r *Report) (found bool, err error) {
	list, err := l.fs.List(l.ctx, l.path)
	if err != nil {
		return false, err
	}
	t := l.newQuarantineCount()
	var others []string
	replayed := false // a replay has emptied a file
	for _, info := range list {
		if info.Dir || !strings.HasSuffix(info.Name, ".jsonl") {
			continue
		}
		if info.Special {
			return false, fmt.Errorf("%w: %s: %w: move it away", ErrUnknown, info.Name, dfs.ErrSpecial)
		}
		if info.Size == 0 {
			replayed = true
			continue
		}
		is, err := l.addQuarantine(t, info.Name)
		if err != nil {
			return false, fmt.Errorf("%s: %w", info.Name, err)
		}
		if is {
			t.Files++
			r.Size += info.Size
		} else {
			others = append(others, info.Name)
		}
	}
	if t.Files == 0 && (!replayed || len(others) > 0) {
		return false, nil
	}
	if len(others) > 0 {
		return false, fmt.Errorf("%s: it is not a file of bad records, and the other files of its folder are: its beginning is damaged; correct or remove it", strings.Join(others, ", "))
	}
	r.Kind, r.Quarantine = KindQuarantine, t.finish()
	return true, nil
}

// addQuarantine adds a file if it is a quarantine file.
func (l *look) addQuarantine(to *quarantineCount, name string) (is bool, err error) {
	f, err := dfs.OpenRegular(l.ctx, l.fs, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	kind, err := detect(f)
	if errors.Is(err, ErrUnknown) || err == nil && kind != KindQuarantine {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, to.add(f)
}

// A quarantineCount counts bad records.
type quarantineCount struct {
	Quarantine
	rows    int // of First
	reasons map[record.Reason]int64
	paths   map[string]int64
}

func (l *look) newQuarantineCount() *quarantineCount {
	return &quarantineCount{
		Quarantine: Quarantine{Reasons: []ReasonCount{}, Paths: []PathCount{}, First: []BadRecord{}},
		rows:       l.rows, reasons: map[record.Reason]int64{}, paths: map[string]int64{},
	}
}

// add counts the records of a file.
func (c *quarantineCount) add(f io.Reader) error {
	for b, err := range badRecords(f) {
		if err != nil {
			return err
		}
		c.Records++
		c.reasons[b.Reason]++
		c.paths[b.Path]++
		if len(c.First) < c.rows {
			c.First = append(c.First, b)
		}
	}
	return nil
}

// finish sorts what was counted.
func (c *quarantineCount) finish() *Quarantine {
	q := &c.Quarantine
	for _, reason := range slices.SortedFunc(maps.Keys(c.reasons), compareReasons) {
		q.Reasons = append(q.Reasons, ReasonCount{reason, c.reasons[reason]})
	}
	for _, path := range slices.Sorted(maps.Keys(c.paths)) {
		q.Paths = append(q.Paths, PathCount{path, c.paths[path]})
	}
	return q
}

// badRecords reads f line by line. It ends after the first error.
func badRecords(f io.Reader) iter.Seq2[BadRecord, error] {
	return func(yield func(BadRecord, error) bool) {
		in := bufio.NewReader(f)
		for line := 1; ; line++ {
			text, err := in.ReadBytes('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(BadRecord{}, fmt.Errorf("line %d: %w", line, err))
				return
			}
			if len(bytes.TrimSpace(text)) > 0 {
				b, bad := parseBadRecord(text)
				if bad != nil {
					yield(b, fmt.Errorf("line %d: not a bad record: %w", line, bad))
					return
				}
				if !yield(b, nil) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

func parseBadRecord(text []byte) (BadRecord, error) {
	var b BadRecord
	if err := json.Unmarshal(text, &b); err != nil {
		return b, err
	}
	if b.Path == "" || b.Reason == "" {
		return b, errors.New("it says no path or no reason")
	}
	return b, nil
}

// compareReasons orders by record.Reasons. Other reasons come last.
func compareReasons(a, b record.Reason) int {
	order := func(r record.Reason) int {
		if i := slices.Index(record.Reasons, r); i >= 0 {
			return i
		}
		return len(record.Reasons)
	}
	if c := order(a) - order(b); c != 0 {
		return c
	}
	return bytes.Compare([]byte(a), []byte(b))
}

func (q *Quarantine) text(p *page) {
	facts := []fact{{"records", count(q.Records)}}
	if q.Files > 0 {
		facts = append([]fact{{"files", count(q.Files)}}, facts...)
	}
	p.facts(facts...)
	g := newGrid("reason", ">records")
	for _, r := range q.Reasons {
		g.add(string(r.Reason), count(r.Records))
	}
	p.grid("reasons", g)
	g = newGrid("path", ">records")
	for _, d := range q.Paths {
		g.add(d.Path, count(d.Records))
	}
	p.list("delivered files", g, len(q.Paths))
	g = newGrid("path", ">line", ">offset", "reason", "detail", "raw")
	for _, b := range q.First {
		raw := b.Raw
		if raw == "" {
			raw = string(b.Base64)
		}
		g.add(b.Path, fmt.Sprint(b.Line), fmt.Sprint(b.Offset), string(b.Reason), short(b.Detail), short(raw))
	}
	p.list("bad records", g, int(q.Records))
}
