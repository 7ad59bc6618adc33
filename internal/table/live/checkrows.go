package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/rolls"
)

// A catalog lists what loads put into a table. HBase can lose these rows: the table is
// dropped and made again, truncated, or restored from a snapshot that is older than the
// newest loads. Open therefore looks for cells of the newest load in HBase:
//
//   - If HBase has a cell of the load, Open accepts the catalog.
//   - If HBase has no cell, and the load has at least enoughUsers users, Open refuses it.
//   - If HBase has no cell, but one of the users has cells of another load, Open refuses it:
//     a user's deletion deletes all rows of the user.
//   - If there are fewer users, and they have no cells at all, they may have been deleted.
//     Open then looks for the load before it.
//
// Open skips days whose cells may have expired, and loads without a roll. If nothing is left to
// look for, Open accepts the catalog.

const (
	// askUsers is the number of users of a load whose rows are read. The users are in askFiles
	// rolls of the load.
	askUsers = 256
	askFiles = 8

	// enoughUsers is the number of users from which a load counts as lost if none of them has a
	// row. If there are fewer users, they may have been deleted.
	enoughUsers = 16

	// askLoads limits the number of loads that are checked.
	askLoads = 8

	// askRanges, askRows and askCells limit the reads for one user: the ranges, the rows of a
	// range, and the cells of a row.
	askRanges, askRows, askCells = 64, 64, 256
)

// errFound ends a read at the first cell that the load wrote.
var errFound = errors.New("found")

// checkRows returns an error that wraps ErrUnfit if HBase has no cell of the newest load.
func (t *Table) checkRows(ctx context.Context) error {
	m := t.Manifest()
	asked := 0
	var last *manifest.LoadRef
	for i, n := len(m.Loads)-1, 0; i >= 0 && n < askLoads; i-- {
		ref := &m.Loads[i]
		files := t.filesToAsk(ref)
		if ref.Records == 0 || len(files) == 0 {
			continue
		}
		n++
		p, err := t.newProbe(ctx, ref)
		if err != nil {
			return err
		}
		there, err := p.ask(ctx, files)
		if errors.Is(err, hbase.ErrPermission) {
			return nil // a user who may not read may still write
		}
		if there || err != nil {
			return t.address.explain(err)
		}
		if asked += len(p.users); last == nil {
			last = ref
		}
		if len(p.users) >= enoughUsers {
			break
		}
		older, err := p.haveOthers(ctx)
		if err != nil {
			return t.address.explain(err)
		}
		if older {
			break
		}
	}
	if asked == 0 {
		return nil
	}
	return t.mayRead(ctx, t.lost(last, asked))
}

// mayRead returns err if the user may read the table. HBase may show an empty table to other users.
func (t *Table) mayRead(ctx context.Context, err error) error {
	may, fail := t.client.Allowed(ctx, t.address.Table, t.family, wire.PermitRead)
	switch {
	case fail != nil:
		return t.address.explain(fail)
	case !may:
		return nil
	}
	return err
}

func (t *Table) lost(load *manifest.LoadRef, users int) error {
	return fmt.Errorf("table %s: %w: it has none of the rows that load %d put there, by the catalog %s (looked for %d users): "+
		"it was dropped and made again, truncated, or restored from an older snapshot. Restore it; or truncate it, let `bulkload forget` set the catalog aside, and load again",
		t.address, table.ErrUnfit, load.Number, t.Dir(), users)
}

// filesToAsk returns some files of a load, spread over the table, each with the part of its span
// whose cells cannot have expired.
func (t *Table) filesToAsk(load *manifest.LoadRef) []manifest.File {
	var all []manifest.File
	for _, f := range t.Manifest().Files {
		if f.Load != load.Number || f.Roll == "" {
			continue
		}
		if f.Span.From = max(f.Span.From, t.store.keeps(time.Now())); f.Span.From <= f.Span.To {
			all = append(all, f)
		}
	}
	if len(all) <= askFiles {
		return all
	}
	some := make([]manifest.File, askFiles)
	for i := range some {
		some[i] = all[i*len(all)/askFiles]
	}
	return some
}

// keeps returns the first date whose cells cannot have expired, in any time zone.
func (s *Store) keeps(now time.Time) behaviour.Date {
	if s.schema == nil {
		return behaviour.MinDate
	}
	ttl, err := ttlOf(s.schema)
	switch {
	case err != nil:
		return behaviour.MaxDate
	case ttl == 0:
		return behaviour.MinDate
	}
	const margin = 2 * 24 * time.Hour
	return behaviour.DateAt(now.Add(margin-ttl).UnixMicro(), time.UTC)
}

// A probe looks for cells that a load wrote.
type probe struct {
	*Table
	load    *manifest.LoadRef
	origins manifest.Origins // of this load only
	teller  layout.Teller
	users   [][]byte // keys of the users whose rows were read
	others  []layout.RecordID
	unsure  bool // found cells that may belong to the load
}

func (t *Table) newProbe(ctx context.Context, load *manifest.LoadRef) (*probe, error) {
	l, err := t.Ledger(ctx, load)
	if err != nil {
		return nil, err
	}
	return &probe{Table: t, load: load, origins: manifest.OriginsOf([]*manifest.Load{l}), teller: t.Layout().Teller(t.Manifest().Schema)}, nil
}

// ask reports whether HBase has, or may have, a cell of the load. It looks for the first row of each
// file, and then for users in the rolls.
func (p *probe) ask(ctx context.Context, files []manifest.File) (bool, error) {
	for i := range files {
		if f := &files[i]; f.Name != "" {
			if err := p.row(ctx, f.First); err != nil {
				return found(err)
			}
		}
	}
	for i := range files {
		if err := p.usersOf(ctx, &files[i], (askUsers+len(files)-1)/len(files)); err != nil {
			return found(err)
		}
	}
	if p.unsure || len(p.others) == 0 {
		return p.unsure, nil
	}
	// All cells belong to other loads or other clients.
	ledgers, err := table.Ledgers(ctx, p)
	if err != nil {
		return false, err
	}
	all := manifest.OriginsOf(ledgers)
	for _, rec := range p.others {
		if _, known := all.Load(rec.ID, rec.Date, p.kind(rec)); !known {
			return true, nil
		}
	}
	return false, nil
}

// haveOthers reports whether any of the users has a cell of another load.
func (p *probe) haveOthers(ctx context.Context) (bool, error) {
	ledgers, err := table.Ledgers(ctx, p)
	if err != nil {
		return false, err
	}
	schema := p.Manifest().Schema
	reads, err := p.Layout().Reads(schema, layout.Everyone(schema, spanOf(p.Manifest().Files)))
	if err != nil {
		return false, err
	}
	// A cell of any load ends the read.
	other := &probe{Table: p.Table, load: p.load, origins: manifest.OriginsOf(ledgers), teller: p.teller}
	for _, key := range p.users {
		if err := other.user(ctx, reads, key); err != nil {
			return found(err)
		}
	}
	return false, nil
}

// spanOf returns a span with the dates of all files.
func spanOf(files []manifest.File) behaviour.Span {
	s := files[0].Span
	for _, f := range files[1:] {
		s.From, s.To = min(s.From, f.Span.From), max(s.To, f.Span.To)
	}
	return s
}

func found(err error) (bool, error) {
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

func (p *probe) kind(rec layout.RecordID) string { return p.Manifest().Schema.Kinds[rec.Kind].Name }

// row reads one row.
func (p *probe) row(ctx context.Context, row []byte) error {
	return p.scan(ctx, row, append(append([]byte(nil), row...), 0), 1)
}

// usersOf reads rows of the first n users of a file's roll.
func (p *probe) usersOf(ctx context.Context, f *manifest.File, n int) error {
	return p.eachUser(ctx, f, n, func(reads *layout.Reads, key []byte) error {
		p.users = append(p.users, key)
		return p.user(ctx, reads, key)
	})
}

// eachUser calls each with the key of each of the first n users of a file's roll, and with the
// layout's Reads.
func (p *probe) eachUser(ctx context.Context, f *manifest.File, n int, each func(reads *layout.Reads, key []byte) error) error {
	m := p.Manifest()
	reads, err := p.Layout().Reads(m.Schema, layout.Everyone(m.Schema, f.Span))
	if err != nil {
		return err
	}
	users, err := p.rolls.Users(ctx, rolls.Query{Layout: p.Layout(), Schema: m.Schema, Region: split.Region{}, Span: f.Span, Files: []manifest.File{*f}})
	if err != nil {
		return err
	}
	defer users.Close()
	for ; n > 0 && users.Next(); n-- {
		if err := each(reads, bytes.Clone(users.User().Key)); err != nil {
			return err
		}
	}
	return users.Err()
}

// user reads rows of one user.
func (p *probe) user(ctx context.Context, reads *layout.Reads, key []byte) (err error) {
	ranges := 0
	reads.Ranges(key, func(start, stop []byte) bool {
		if ranges++; ranges > askRanges {
			p.unsure = true
			return false
		}
		err = p.scan(ctx, append([]byte(nil), start...), append([]byte(nil), stop...), askRows)
		return err == nil
	})
	return err
}

// scan reads the keys of cells of a few rows. It returns errFound at the first cell of the load.
func (p *probe) scan(ctx context.Context, start, stop []byte, rows int) error {
	s := hbase.Scan{
		Start: start, Stop: stop, Columns: p.columns(), Filter: wire.KeyOnly(false), Limit: rows, StoreLimit: askCells,
		MaxVersions: uint32(p.Layout().Traits().Versions), ReadType: wire.ReadPread, CacheBlocks: true,
	}
	cells := 0
	err := p.client.Scan(ctx, p.address.Table, s, func(c *cell.Cell) error {
		cells++
		return p.look(c)
	})
	if cells >= askCells || rows > 1 && cells >= rows {
		p.unsure = p.unsure || err == nil // there may be more cells beyond the limits
	}
	return err
}

// look checks one cell.
func (p *probe) look(c *cell.Cell) error {
	rec, ok := p.teller.Tell(c)
	if !ok || rec.ID == layout.NoID {
		p.unsure = true
		return nil
	}
	if _, mine := p.origins.Load(rec.ID, rec.Date, p.kind(rec)); mine {
		return errFound
	}
	p.others = append(p.others, rec)
	return nil
}
