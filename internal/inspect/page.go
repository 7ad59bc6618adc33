package inspect

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// Text writes r for a person: a line that says what it is, its facts, then one
// table after the other.
func (r Report) Text(w io.Writer) error {
	p := &page{rows: r.rows}
	p.printf("%s %s, %s\n\n", r.Kind, r.Path, size(r.Size))
	switch {
	case r.Table != nil:
		r.Table.text(p)
	case r.Extract != nil:
		r.Extract.text(p)
	case r.HFile != nil:
		r.HFile.text(p)
	case r.Roll != nil:
		r.Roll.text(p)
	case r.TrailPart != nil:
		r.TrailPart.text(p)
	case r.Ledger != nil:
		r.Ledger.text(p)
	case r.Names != nil:
		r.Names.text(p)
	case r.Quarantine != nil:
		r.Quarantine.text(p)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// A page is a report's text.
type page struct {
	strings.Builder
	rows int // of a long list
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// A fact is a name and what is to be said of it.
type fact struct{ name, value string }

// facts lists those that have a value.
func (p *page) facts(facts ...fact) {
	width := 0
	for _, f := range facts {
		width = max(width, len(f.name))
	}
	for _, f := range facts {
		if f.value != "" {
			p.printf("  %-*s  %s\n", width, f.name, plain(f.value))
		}
	}
}

// grid draws a table under a title, if it has rows.
func (p *page) grid(title string, g *grid) {
	if len(g.rows) == 0 {
		return
	}
	p.printf("\n%s\n", plain(title))
	g.text(&p.Builder, "  ")
}

// list draws the first rows of a table of all rows, and returns how many more there
// are.
func (p *page) list(title string, g *grid, all int) {
	g.rows = g.rows[:min(len(g.rows), p.rows)]
	p.grid(title, g)
	if more := all - len(g.rows); more > 0 && len(g.rows) > 0 {
		p.printf("  … %s more\n", count(more))
	}
}

func count[N ~int | ~int64](n N) string { return humanize.Comma(int64(n)) }

func size[N ~int | ~int64](n N) string { return humanize.IBytes(uint64(max(n, 0))) }

// instant shows milliseconds since 1970, which in files of others may be any
// number.
func instant(millis int64) string {
	t := time.UnixMilli(millis).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return fmt.Sprint(millis)
	}
	return t.Format("2006-01-02T15:04:05.999Z")
}

// binary shows bytes as manifests do.
func binary(b []byte) string {
	s, _ := manifest.Key(b).MarshalText() // it has no error to give
	return string(s)
}

// bound shows an end of a region; one that is open has a word of its own.
func bound(k manifest.Key, open string) string { return cmp.Or(short(valueText(k)), open) }

// fieldList shows fields with their types.
func fieldList(fields []behaviour.Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name+" "+string(f.Type))
	}
	return strings.Join(names, ", ")
}

// ratio is raw bytes for each stored one.
func ratio(raw, stored int64) string {
	if stored == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(raw)/float64(stored))
}
