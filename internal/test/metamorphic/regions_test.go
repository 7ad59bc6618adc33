package metamorphic_test

import (
	"slices"
	"strings"

	"usertrail/internal/cell"
)

// Changes that an administrator makes to a table in HBase. Row selects the region.
const (
	splitRegion  = "split" // the region of a row is split before the row
	mergeRegions = "merge" // the region of a row is merged with the next one
	moveRegion   = "move"  // the region of a row moves to the other server
	truncate     = "empty" // all rows are removed

	takeSnapshot    = "snapshot" // the rows are saved
	restoreSnapshot = "restore"  // the saved rows replace the current ones
)

// inTable returns the name in HBase of the first table.
func (x *run) inTable() string { return x.hbase[strings.LastIndex(x.hbase, "/")+1:] }

// regions changes the regions of the table in HBase.
func (x *run) regions(s *Step) error {
	if x.Store != inHBase {
		return nil // the sequence was shrunk
	}
	x.script.line("# in HBase: %s %q", s.Do, s.Row)
	if x.Real {
		return x.realRegions(s)
	}
	fake, name, row := x.p.hbase(), x.inTable(), []byte(s.Row)
	switch s.Do {
	case splitRegion:
		fake.Split(name, row)
	case mergeRegions:
		fake.Merge(name, row)
	case moveRegion:
		fake.Move(name, row, s.Server)
	}
	return nil
}

// empty removes all rows of the table in HBase. Commands refuse the table until its catalog
// is moved away.
func (x *run) empty(s *Step) error {
	t := x.table(firstTable)
	if x.Store != inHBase || t == nil || x.half != nil {
		return nil
	}
	if err := x.jobFile(&Step{Table: firstTable}); err != nil {
		return err
	}
	x.script.line("# in HBase: truncate")
	if x.Real {
		x.makeAnew()
	} else {
		x.p.hbase().Delete(x.inTable(), func(*cell.Cell) bool { return true })
	}
	if t.misses() {
		if err := x.refusesLoss(s, t); err != nil {
			return err
		}
	}
	got, err := x.command(s, "bulkload", "", "forget")
	if err != nil {
		return err
	}
	if err := got.want([]int{0}); err != nil {
		return wrapped("forget", err)
	}
	x.tables[firstTable], x.keptTable = &table{bad: map[string][]badLine{}}, nil
	delete(x.ids, firstTable)
	delete(x.checks, firstTable)
	delete(x.older, firstTable) // they are manifests of another table
	return nil
}

// refusesLoss checks that no command works on a table whose newest rows are missing.
func (x *run) refusesLoss(s *Step, t *table) error {
	for _, c := range []struct {
		program  string
		args     []string
		statuses []int
	}{
		{"bulkload", slices.Concat([]string{"--from", days[0], "--to", days[4]}, quiet), []int{64}},
		{"extract", x.everything(firstTable, t), []int{64}},
		{"bulkload", slices.Concat([]string{"verify"}, x.tableFlags(firstTable), quiet), []int{1}},
	} {
		got, err := x.command(s, c.program, "", c.args...)
		if err != nil {
			return err
		}
		if err := got.want(c.statuses); err != nil {
			return wrapped(words(c.program, c.args)+" of a table that lost rows", err)
		}
	}
	return nil
}

// snapshot saves the rows of the table in HBase.
func (x *run) snapshot() error {
	if x.Store != inHBase || x.Real || x.half != nil || x.table(firstTable) == nil {
		return nil
	}
	x.script.line("# in HBase: snapshot")
	x.keptTable, x.kept = x.table(firstTable), x.p.hbase().Cells(x.inTable())
	return nil
}

// restore replaces the rows of the table in HBase by the rows of the snapshot. Commands
// refuse the table until it has the later rows again.
func (x *run) restore(s *Step) error {
	t := x.table(firstTable)
	if x.Store != inHBase || x.Real || t == nil || x.half != nil || x.keptTable == nil || !t.missesSince(x.keptTable) {
		return nil
	}
	if err := x.jobFile(&Step{Table: firstTable}); err != nil {
		return err
	}
	now := x.p.hbase().Cells(x.inTable())
	x.hasCells("restore_snapshot", x.kept)
	if err := x.refusesLoss(s, t); err != nil {
		return err
	}
	x.hasCells("restore_snapshot of the newest state", now)
	delete(x.checks, firstTable)
	return nil
}

// hasCells replaces the cells of the table in HBase.
func (x *run) hasCells(how string, cells []*cell.Cell) {
	x.script.line("# in HBase: %s", how)
	x.p.hbase().Delete(x.inTable(), func(*cell.Cell) bool { return true })
	x.p.hbase().Load(x.inTable(), cells...)
}

// missesSince reports whether the program certainly detects that the rows of all loads since an
// older state are missing. This holds if the newest load with records has a user that also has
// events in old, and no file that also has an entry in old.
func (t *table) missesSince(old *table) bool {
	newest, users, paths := 0, map[string]bool{}, map[string]bool{}
	for _, e := range t.events {
		newest = max(newest, e.load)
	}
	if newest <= old.loads || len(old.events) == 0 {
		return false
	}
	for _, e := range t.events {
		if e.load == newest {
			users[e.user] = true
		}
	}
	for _, e := range t.entries {
		if e.load == newest {
			paths[e.path] = true
		}
	}
	return slices.ContainsFunc(old.events, func(e event) bool { return users[e.user] }) &&
		!slices.ContainsFunc(old.entries, func(e entry) bool { return paths[e.path] })
}

// misses reports whether the program certainly detects that all rows are missing. This holds
// if the newest load with records has two users or more.
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
