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

// Text writes r for users: a line with its kind, its facts, and then its tables.
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
	rows int // rows to print of a long list
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// A fact is a name and its value.
type fact struct{ name, value string }

// facts prints the facts that have a value.
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

// grid prints a table under a title, if it has rows.
func (p *page) grid(title string, g *grid) {
	if len(g.rows) == 0 {
		return
	}
	p.printf("\n%s\n", plain(title))
	g.text(&p.Builder, "  ")
}

// list prints the first rows of a table under a title. If the table has more rows, it prints
// their number. all is the number of all rows.
func (p *page) list(title string, g *grid, all int) {
	g.rows = g.rows[:min(len(g.rows), p.rows)]
	p.grid(title, g)
	if more := all - len(g.rows); more > 0 && len(g.rows) > 0 {
		p.printf("  … %s more\n", count(more))
	}
}

func count[N ~int | ~int64](n N) string { return humanize.Comma(int64(n)) }

func size[N ~int | ~int64](n N) string { return humanize.IBytes(uint64(max(n, 0))) }

// instant shows milliseconds since 1970. In files of other programs they may be any number.
func instant(millis int64) string {
	t := time.UnixMilli(millis).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return fmt.Sprint(millis)
	}
	return t.Format("2006-01-02T15:04:05.999Z")
}

// binary shows bytes in the notation of manifests.
func binary(b []byte) string {
	s, _ := manifest.Key(b).MarshalText() // it never returns an error
	return string(s)
}

// bound shows an end of a region. open is the word for an end without a row.
func bound(k manifest.Key, open string) string { return cmp.Or(short(valueText(k)), open) }

// fieldList shows fields with their types.
func fieldList(fields []behaviour.Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name+" "+string(f.Type))
	}
	return strings.Join(names, ", ")
}

// ratio returns the number of raw bytes per stored byte.
func ratio(raw, stored int64) string {
	if stored == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(raw)/float64(stored))
}
