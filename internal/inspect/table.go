package inspect

import (
	"cmp"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"syscall"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// A Table describes a table as its manifest and ledgers record it. A live table has no files and no regions here: its
// total counts the records and cells of its loads.
type Table struct {
	Address     string            `json:"address,omitempty"` // of a live table
	Layout      string            `json:"layout"`
	Versions    int               `json:"versions,omitempty"` // versions of a column that a family in HBase must keep; 0 if one is enough
	Family      string            `json:"family"`
	Compression string            `json:"compression,omitempty"`
	Schema      *behaviour.Schema `json:"schema"`
	Dropped     *behaviour.Date   `json:"dropped_before,omitempty"` // rows before this date were dropped
	Total       Amount            `json:"total"`
	Regions     []Region          `json:"regions"`
	Files       []manifest.File   `json:"files"`
	Loads       []Load            `json:"loads"`
	Days        []Day             `json:"days,omitempty"` // by date, then behaviour ID; not of kind manifest
}

// An Amount counts the contents of some of a table's files.
type Amount struct {
	Files   int   `json:"files"`
	Records int64 `json:"records"`
	Cells   int64 `json:"cells"`
	Size    int64 `json:"size"` // bytes of the HFiles
	// UsersAtMost counts a user once for each file; in one file it is exact.
	UsersAtMost int64           `json:"users_at_most"`
	Span        *behaviour.Span `json:"span,omitempty"` // nil if there are no files
}

// add adds a file.
func (a *Amount) add(f *manifest.File) {
	a.Files++
	a.Records += f.Records
	a.Cells += f.Tally.Cells
	a.Size += f.Size
	a.UsersAtMost += f.Users
	if a.Span == nil {
		a.Span = new(behaviour.NoDays)
	}
	a.Span.Add(f.Span)
}

// A Region is the key range between two split points.
type Region struct {
	Start manifest.Key `json:"start"` // empty in the first
	End   manifest.Key `json:"end"`   // empty in the last
	Amount
}

// A Load is one load of a table. If only the manifest is read, without ledgers, the number, name and records are set.
type Load struct {
	Number  int              `json:"number"`
	Name    string           `json:"name"` // of the ledger
	Records int64            `json:"records"`
	Job     string           `json:"job,omitempty"` // its digest
	Inputs  int              `json:"inputs,omitempty"`
	Counts  *manifest.Counts `json:"counts,omitempty"`
}

// A Day counts the records of one behaviour on one date in all loads.
type Day struct {
	Date      behaviour.Date `json:"date"`
	Behaviour string         `json:"behaviour"`
	Records   int64          `json:"records"`
	Cells     int64          `json:"cells"`
}

// table reports the table in dir, whose manifest is called name.
func (l *look) table(r *Report, dir, name string) error {
	m, err := l.tableManifest(name)
	if err != nil {
		return err
	}
	t := newTable(m)
	for i, ref := range m.Loads {
		ledger, err := manifest.ReadLedger(l.ctx, l.fs, dir, &ref)
		if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.EISDIR) {
			err = cmp.Or(catalog.Check(l.ctx, l.fs, dir, m), err) // status 1, as for every other command
		}
		if err != nil {
			return err
		}
		ledger.Days = m.Kept(ledger.Days)
		t.addLedger(&t.Loads[i], ledger)
	}
	t.sortDays()
	r.Kind, r.Table = KindTable, t
	r.Size = t.Total.Size
	if dfs.Base(name) != tableManifest { // a copy of the manifest
		return nil
	}
	err = catalog.Check(l.ctx, l.fs, dir, m)
	if errors.Is(err, table.ErrDamaged) {
		r.damage, err = err, nil
	}
	return err
}

// tableFile reports the table to which a manifest belongs. If the manifest is not in its table, tableFile reports the
// manifest alone.
func (l *look) tableFile(r *Report) error {
	err := l.table(r, dfs.Dir(l.path), l.path)
	if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	m, err := l.tableManifest(l.path)
	if err != nil {
		return err
	}
	r.Kind, r.Table = KindManifest, newTable(m)
	return nil
}

func (l *look) tableManifest(name string) (*manifest.Table, error) {
	if dfs.Base(name) == tableManifest {
		return catalog.ReadTable(l.ctx, l.fs, dfs.Dir(name))
	}
	m := new(manifest.Table) // a copy of a manifest
	if err := manifest.Read(l.ctx, l.fs, name, m); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// newTable returns the facts that the manifest alone holds.
func newTable(m *manifest.Table) *Table {
	t := &Table{
		Address: m.Address, Layout: m.Layout, Versions: versions(m.Layout), Family: m.Family, Compression: m.Compression,
		Schema: m.Schema, Dropped: m.DroppedBefore, Files: m.Files, Loads: []Load{},
	}
	for _, ref := range m.Loads {
		t.Loads = append(t.Loads, Load{Number: ref.Number, Name: ref.Name, Records: ref.Records})
	}
	if m.Address != "" {
		for _, ref := range m.Loads {
			t.Total.Records += ref.Records
			t.Total.Cells += ref.Tally.Cells
		}
		return t
	}
	points := m.Points()
	for _, r := range points.Regions() {
		t.Regions = append(t.Regions, Region{Start: r.Start, End: r.End})
	}
	for i := range m.Files {
		f := &m.Files[i]
		t.Regions[points.Of(f.First)].add(f)
		t.Total.add(f)
	}
	return t
}

// versions returns the number of versions of a column that a layout needs. It returns 0 if one version is enough or if the layout is unknown.
func versions(name string) int {
	l, err := layout.ByName(name)
	if err != nil {
		return 0
	}
	return l.Traits().Versions
}

func (t *Table) addLedger(load *Load, ledger *manifest.Load) {
	load.Job, load.Inputs = ledger.Job, len(ledger.Inputs)
	load.Counts = new(manifest.Counts)
	for _, in := range ledger.Inputs {
		load.Counts.Add(in.Counts)
	}
	for _, d := range ledger.Days {
		t.Days = append(t.Days, Day{Date: d.Date, Behaviour: d.Behaviour, Records: d.Records, Cells: d.Tally.Cells})
	}
}

// sortDays sorts Days and adds the counts of several loads.
func (t *Table) sortDays() {
	order := func(name string) int {
		if i, ok := t.Schema.Kind(name); ok {
			return i
		}
		return len(t.Schema.Kinds)
	}
	slices.SortStableFunc(t.Days, func(a, b Day) int {
		if a.Date != b.Date {
			return int(a.Date) - int(b.Date)
		}
		if i, j := order(a.Behaviour), order(b.Behaviour); i != j {
			return i - j
		}
		return strings.Compare(a.Behaviour, b.Behaviour)
	})
	sum := t.Days[:0]
	for _, d := range t.Days {
		n := len(sum) - 1
		if n >= 0 && sum[n].Date == d.Date && sum[n].Behaviour == d.Behaviour {
			sum[n].Records += d.Records
			sum[n].Cells += d.Cells
		} else {
			sum = append(sum, d)
		}
	}
	t.Days = sum
}
