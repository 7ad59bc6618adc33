package metamorphic_test

import (
	"slices"
	"strings"

	"usertrail/internal/cell"
)

// What an administrator does to a table in HBase. Row is where.
const (
	splitRegion  = "split" // the region of a row is cut before it
	mergeRegions = "merge" // the region of a row is joined with the next one
	moveRegion   = "move"  // the region of a row goes to the other server
	truncate     = "empty" // all rows go
)

// inTable returns the name in HBase of the first table.
func (x *run) inTable() string { return x.hbase[strings.LastIndex(x.hbase, "/")+1:] }

// regions changes the regions of the table in HBase.
func (x *run) regions(s *Step) error {
	if x.Store != inHBase {
		return nil // the sequence was shrunk
	}
	lab, name, row := x.p.hbase(), x.inTable(), []byte(s.Row)
	x.script.line("# in HBase: %s %q", s.Do, s.Row)
	switch s.Do {
	case splitRegion:
		lab.Split(name, row)
	case mergeRegions:
		lab.Merge(name, row)
	case moveRegion:
		lab.Move(name, row, s.Server)
	}
	return nil
}

// empty removes all rows of the table in HBase. Commands refuse the table, until its catalog
// is set aside.
func (x *run) empty(s *Step) error {
	t := x.table(firstTable)
	if x.Store != inHBase || t == nil || x.half != nil {
		return nil
	}
	if err := x.jobFile(&Step{Table: firstTable}); err != nil {
		return err
	}
	x.script.line("# in HBase: truncate")
	x.p.hbase().Delete(x.inTable(), func(*cell.Cell) bool { return true })
	if t.misses() {
		for _, c := range []struct {
			program string
			args    []string
		}{{"bulkload", slices.Concat([]string{"--from", days[0], "--to", days[4]}, quiet)}, {"extract", x.everything(firstTable, t)}} {
			got, err := x.command(s, c.program, "", c.args...)
			if err != nil {
				return err
			}
			if err := got.want([]int{64}); err != nil {
				return wrapped(c.program+" of a table that lost its rows", err)
			}
		}
	}
	got, err := x.command(s, "bulkload", "", "forget")
	if err != nil {
		return err
	}
	if err := got.want([]int{0}); err != nil {
		return wrapped("forget", err)
	}
	x.tables[firstTable] = &table{bad: map[string][]badLine{}}
	delete(x.ids, firstTable)
	delete(x.checks, firstTable)
	return nil
}

// misses reports whether it is certain that the loss of all rows is noticed: the newest load
// that brought records brought those of two users or more.
func (t *table) misses() bool {
	newest, users := 0, map[string]bool{}
	for _, e := range t.events {
		newest = max(newest, e.load)
	}
	for _, e := range t.events {
		if e.load == newest {
			users[e.user] = true
		}
	}
	return len(users) > 1
}
