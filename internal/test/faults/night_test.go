package faults_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// A trouble is a fault of one night.
type trouble string

const (
	calm       trouble = "-"
	late       trouble = "late file"
	changed    trouble = "changed file"
	empty      trouble = "empty night"
	killed     trouble = "killed load"
	full       trouble = "full disk"
	deadServer trouble = "dead RegionServer"
	killedRead trouble = "killed extract"
)

// kinds lists the behaviours of the sample with their columns that are not text.
var kinds = map[string]struct {
	columns int
	typed   map[int]func(string) bool
}{
	"play":  {6, map[int]func(string) bool{4: isInt}},
	"order": {6, map[int]func(string) bool{3: isFloat, 4: isInt}},
	"visit": {5, map[int]func(string) bool{4: isInt}},
	"login": {5, map[int]func(string) bool{4: isBool}},
}

func isInt(s string) bool   { _, err := strconv.ParseInt(s, 10, 64); return err == nil }
func isFloat(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }
func isBool(s string) bool  { _, err := strconv.ParseBool(s); return err == nil }

// A delivery is one file of logs, with its content.
type delivery struct {
	name string // path below the logs
	good map[behaviour.Date]int64
	bad  int64
}

// all returns the number of good records.
func (d *delivery) all() (n int64) {
	for _, k := range d.good {
		n += k
	}
	return n
}

// A night is a day, its delivered files, and the trouble during its load.
type night struct {
	date    behaviour.Date
	trouble trouble
	files   []*delivery
	sum     samplelog.Summary // from the generator; without later additions
}

// A month is a series of nights, and the folder of all their files.
type month struct {
	dir    string
	nights []*night
}

// more is the ending of a file with records that were added to another one.
const more = "-more"

// newMonth generates n nights. The troubles follow in rotation.
func newMonth(t *testing.T, n int, troubles []trouble) *month {
	t.Helper()
	m := &month{dir: t.TempDir()}
	for i := range n {
		x := &night{date: samplelog.DefaultFrom + behaviour.Date(i), trouble: troubles[i%len(troubles)]}
		m.nights = append(m.nights, x)
		if x.trouble == empty {
			continue
		}
		var err error
		cfg := samplelog.Config{Records: 2000 + int64(i%5)*500, Users: 300, From: x.date, Days: 1, Seed: 11, Bad: 0.002}
		if x.sum, err = samplelog.Write(t.Context(), local.New(), m.dir, cfg); err != nil {
			t.Fatal(err)
		}
		if x.trouble == changed {
			copyLines(t, filepath.Join(m.dir, x.name("visit")), filepath.Join(m.dir, x.name("visit"+more)), 6)
		}
		for _, kind := range []string{"login", "order", "play", "visit", "visit" + more} {
			if _, err := os.Stat(filepath.Join(m.dir, x.name(kind))); err == nil {
				x.files = append(x.files, readDelivery(t, m.dir, x.name(kind), kind))
			}
		}
		x.checkSum(t)
	}
	return m
}

// name returns the name of the night's file of one kind.
func (x *night) name(kind string) string { return x.date.String() + "/" + kind + ".csv" }

// file returns the night's file of one kind.
func (x *night) file(kind string) *delivery {
	i := slices.IndexFunc(x.files, func(d *delivery) bool { return d.name == x.name(kind) })
	return x.files[i]
}

// checkSum compares the test's own reading of the files with the generator's summary.
func (x *night) checkSum(t *testing.T) {
	t.Helper()
	var good, bad, tomorrow int64
	for _, d := range x.files {
		if !strings.HasSuffix(d.name, more+".csv") {
			good, bad, tomorrow = good+d.all(), bad+d.bad, tomorrow+d.good[x.date+1]
		}
	}
	if good+bad != x.sum.Records || bad != x.sum.Bad || tomorrow != x.sum.Late {
		t.Fatalf("%s: %d good records, %d bad, %d of the day after; the generator says %+v", x.date, good, bad, tomorrow, x.sum)
	}
}

// readDelivery counts a file's records with a simple reader.
func readDelivery(t *testing.T, dir, name, kind string) *delivery {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := &delivery{name: name, good: map[behaviour.Date]int64{}}
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	if _, err := r.Read(); err != nil {
		t.Fatalf("%s: header: %v", name, err)
	}
	k := kinds[strings.TrimSuffix(kind, more)]
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		date, ok := dateOf(record, k.columns, k.typed)
		if !ok {
			d.bad++
			continue
		}
		d.good[date]++
	}
}

// dateOf returns the local date of a good record.
func dateOf(record []string, columns int, typed map[int]func(string) bool) (behaviour.Date, bool) {
	if len(record) != columns || record[0] == "" {
		return 0, false
	}
	for i, s := range record {
		if !utf8.ValidString(s) || s != "" && typed[i] != nil && !typed[i](s) {
			return 0, false
		}
	}
	if _, err := time.Parse("2006-01-02 15:04:05", record[1]); err != nil {
		return 0, false
	}
	date, err := behaviour.ParseDate(record[1][:len("2006-01-02")])
	return date, err == nil
}

// copyLines makes a file of the header and the first records of another file.
func copyLines(t *testing.T, from, to string, n int) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(b), "\n", n+1)
	testkit.WriteFile(t, to, strings.Join(lines[:n], ""))
}

// deliver copies a file to the folder from which the loads read.
func (m *month) deliver(t *testing.T, d *delivery, logs string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(m.dir, d.name))
	if err == nil {
		err = os.MkdirAll(filepath.Join(logs, filepath.Dir(d.name)), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(logs, d.name), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// append adds records to a file that was already delivered.
func (m *month) append(t *testing.T, x *night, kind, logs string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(m.dir, x.name(kind+more)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(logs, x.name(kind)), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, records, _ := strings.Cut(string(b), "\n")
	_, err = f.WriteString(records)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// sums returns the counts of all files of the month.
func (m *month) sums() (good, bad int64) {
	for _, x := range m.nights {
		for _, d := range x.files {
			good, bad = good+d.all(), bad+d.bad
		}
	}
	return good, bad
}

// span returns the dates of all nights, and the following day, to which late records belong.
func (m *month) span() behaviour.Span {
	return behaviour.Span{From: m.nights[0].date, To: m.nights[len(m.nights)-1].date + 1}
}

// nightJob returns the text of a job file for logs in a folder.
func nightJob(logs, table string) string {
	return fmt.Sprintf("logs: {path: %q, zone: Asia/Shanghai, max_bad: 10%%}\ntable: %s\n%s", filepath.Join(logs, "{date}/{behaviour}*.csv"), table, testkit.SampleBehaviours)
}
