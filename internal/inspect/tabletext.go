package inspect

import (
	"cmp"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
)

func (t *Table) text(p *page) {
	p.facts(
		fact{"table", t.Address},
		fact{"layout", t.Layout},
		fact{"versions", t.versions()},
		fact{"family", t.Family},
		fact{"compression", t.Compression},
		fact{"zone", t.Schema.Zone},
		fact{"loads", count(len(t.Loads))},
		fact{"files", t.files()},
		fact{"records", count(t.Total.Records)},
		fact{"cells", count(t.Total.Cells)},
		fact{"users", t.users()},
		fact{"dates", t.Total.dates()},
		fact{"dropped", t.dropped()},
	)
	p.grid("behaviours", behaviourGrid(t.Schema))
	if t.Address == "" {
		p.grid("regions", t.regionGrid())
	}
	p.list("files", t.fileGrid(), len(t.Files))
	p.list("loads", t.loadGrid(), len(t.Loads))
	p.grid("records of each day", dayGrid(t.Days, t.Schema.Names()))
}

// files returns the number of files, and "" for a live table.
func (t *Table) files() string {
	if t.Address != "" {
		return ""
	}
	return count(t.Total.Files)
}

// versions returns the number of versions that a family in HBase must keep, if it is more
// than one.
func (t *Table) versions() string {
	if t.Versions <= 1 {
		return ""
	}
	return count(t.Versions) + " of a column, in HBase"
}

func (t *Table) dropped() string {
	if t.Dropped == nil {
		return ""
	}
	return "before " + t.Dropped.String()
}

func (t *Table) users() string {
	if t.Address != "" {
		return ""
	}
	return t.Total.users()
}

// users returns the known number of users.
func (a *Amount) users() string {
	if a.Files > 1 {
		return "at most " + count(a.UsersAtMost)
	}
	return count(a.UsersAtMost)
}

func (a *Amount) dates() string {
	if a.Span == nil {
		return ""
	}
	return a.Span.String()
}

func behaviourGrid(s *behaviour.Schema) *grid {
	short := slices.ContainsFunc(s.Kinds, func(k behaviour.Kind) bool { return k.As != "" })
	header := []string{">id", "name", "fields"}
	if short {
		header = slices.Insert(header, 2, "short name")
	}
	g := newGrid(header...)
	for _, k := range s.Kinds {
		line := []string{fmt.Sprint(k.ID), k.Name, fieldList(k.Fields)}
		if short {
			line = slices.Insert(line, 2, k.As)
		}
		g.add(line...)
	}
	return g
}

func (t *Table) regionGrid() *grid {
	g := newGrid(">region", "from", "up to", ">files", ">records", ">cells", ">size", ">users", "dates")
	for i := range t.Regions {
		r := &t.Regions[i]
		g.add(count(i), bound(r.Start, "the first"), bound(r.End, "the last"), count(r.Files), count(r.Records),
			count(r.Cells), size(r.Size), r.users(), r.dates())
	}
	return g
}

func (t *Table) fileGrid() *grid {
	g := newGrid("name", ">load", ">records", ">cells", ">size", ">users", "dates", "first row", "last row")
	for _, f := range t.Files {
		g.add(cmp.Or(f.Name, f.Roll), fmt.Sprint(f.Load), count(f.Records), count(f.Tally.Cells), size(f.Size), count(f.Users),
			f.Span.String(), short(valueText(f.First)), short(valueText(f.Last)))
	}
	return g
}

func (t *Table) loadGrid() *grid {
	g := newGrid(">load", "ledger", ">delivered", ">read", ">loaded", ">quarantined", ">duplicate", ">skipped")
	for _, l := range t.Loads {
		if c := l.Counts; c != nil {
			g.add(fmt.Sprint(l.Number), l.Name, count(l.Inputs), count(c.Read), count(c.Loaded), count(c.Quarantined), count(c.Duplicate), count(c.Skipped))
		} else {
			g.add(fmt.Sprint(l.Number), l.Name, "", "", count(l.Records), "", "", "")
		}
	}
	return g
}

// dayGrid returns a table with a line for each date and a column for each behaviour.
func dayGrid(days []Day, order []string) *grid {
	names := occurring(days, order)
	heads := []string{"date"}
	for _, n := range names {
		heads = append(heads, ">"+n)
	}
	g := newGrid(append(heads, ">all")...)
	for len(days) > 0 {
		n := 1
		for n < len(days) && days[n].Date == days[0].Date {
			n++
		}
		g.add(dayLine(days[:n], names)...)
		days = days[n:]
	}
	return g
}

// occurring returns the names of the behaviours in days: first in the order of order, and
// then any others in the order of days.
func occurring(days []Day, order []string) []string {
	there := map[string]bool{}
	for _, d := range days {
		there[d.Behaviour] = true
	}
	var names []string
	for _, n := range order {
		if there[n] {
			names = append(names, n)
		}
	}
	for _, d := range days {
		if !slices.Contains(names, d.Behaviour) {
			names = append(names, d.Behaviour)
		}
	}
	return names
}

// dayLine returns the line of one date.
func dayLine(days []Day, names []string) []string {
	line := make([]string, len(names)+2)
	var sum int64
	for _, d := range days {
		line[slices.Index(names, d.Behaviour)+1] = count(d.Records)
		sum += d.Records
	}
	line[0], line[len(line)-1] = days[0].Date.String(), count(sum)
	return line
}
