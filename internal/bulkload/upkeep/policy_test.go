package upkeep_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/format/manifest"
)

// TestPolicy prints the merges of a list of files, round after round, until there are no more, and the reasons why.
// A line has a file's name, its dates and its size. It also has the file's first row, if this row is not in the
// first of two regions.
func TestPolicy(t *testing.T) {
	datadriven.RunTest(t, "testdata/policy", func(t *testing.T, d *datadriven.TestData) string {
		p := upkeep.Policy{FileSize: 1000, FanIn: 100}
		d.MaybeScanArgs(t, "file-size", &p.FileSize)
		d.MaybeScanArgs(t, "fan-in", &p.FanIn)
		m := &manifest.Table{Family: "d", Splits: []manifest.Key{manifest.Key("m")}}
		switch d.Cmd {
		case "nights":
			return nights(t, d, p, m)
		case "files":
			for line := range strings.Lines(d.Input) {
				m.Files = append(m.Files, fileOf(t, line))
			}
			var b strings.Builder
			for {
				rounds := p.Plan(m)
				if len(rounds) == 0 {
					return b.String() + left(m) + reasons(p, m)
				}
				for _, r := range rounds {
					draw(&b, &r)
					m = r.Merged(m)
				}
			}
		}
		t.Fatalf("no such command: %s", d.Cmd)
		return ""
	})
}

// nights adds a file of one size for every day, and merges after each day. It prints the files
// that are written each day, and the files at the end.
func nights(t *testing.T, d *datadriven.TestData, p upkeep.Policy, m *manifest.Table) string {
	t.Helper()
	days, size := 0, int64(0)
	d.ScanArgs(t, "days", &days)
	d.ScanArgs(t, "size", &size)
	first := behaviour.DateOf(2014, 9, 1)
	var b strings.Builder
	var sum int64
	for i := range days {
		on := first + behaviour.Date(i)
		m.Files = append(m.Files, manifest.File{
			Name: fmt.Sprintf("%06d", i+1), First: manifest.Key("a"), Size: size, Span: behaviour.Span{From: on - 1, To: on + 1}, Load: i + 1, Records: 1,
		})
		var written int64
		for rounds := p.Plan(m); len(rounds) > 0; rounds = p.Plan(m) {
			for _, s := range rounds[0].Steps {
				written += s.Size()
			}
			m = rounds[0].Merged(m)
		}
		sum += written
		fmt.Fprintf(&b, "%s %s\n", on, strings.Repeat("#", int(written/size)))
	}
	fmt.Fprintf(&b, "loaded %d, written again %d\n", int64(days)*size, sum)
	return b.String() + left(m)
}

func fileOf(t *testing.T, line string) manifest.File {
	t.Helper()
	words := strings.Fields(line)
	from, to, ok := strings.Cut(words[1], "..")
	if !ok {
		to = from
	}
	f := manifest.File{Name: words[0], First: manifest.Key("a"), Load: 1, Records: 1}
	var err error
	if f.Span.From, err = behaviour.ParseDate(from); err != nil {
		t.Fatal(err)
	}
	if f.Span.To, err = behaviour.ParseDate(to); err != nil {
		t.Fatal(err)
	}
	if f.Size, err = strconv.ParseInt(words[2], 10, 64); err != nil {
		t.Fatal(err)
	}
	if len(words) > 3 {
		f.First = manifest.Key(words[3])
	}
	return f
}

func draw(b *strings.Builder, r *upkeep.Round) {
	for _, s := range r.Steps {
		fmt.Fprintf(b, "%s region %d:", r.Month, s.Region)
		for _, f := range s.Files {
			fmt.Fprintf(b, " %s %d", f.Name, f.Size)
		}
		b.WriteString("\n")
	}
}

// reasons lists why the files at the end are not merged.
func reasons(p upkeep.Policy, m *manifest.Table) string {
	var b strings.Builder
	for _, why := range p.Reasons(m) {
		fmt.Fprintf(&b, "%s\n", why)
	}
	return b.String()
}

func left(m *manifest.Table) string {
	var b strings.Builder
	for _, f := range m.Files {
		fmt.Fprintf(&b, "left %s %s %d\n", f.Name, f.Span, f.Size)
	}
	return b.String()
}
