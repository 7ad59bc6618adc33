package live

import (
	"context"
	"errors"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/rolls"
)

// Users implements table.Table. It reads the rolls of all loads. If the table may have users that no
// roll names, it reads the rows.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	q, ok := t.query(r, span)
	if !ok {
		return table.RowUsers(ctx, t, r, span), nil
	}
	return t.rolls.Users(ctx, q)
}

// query returns the query for the rolls. ok is false if the rolls may miss users.
func (t *Table) query(r split.Region, span behaviour.Span) (q rolls.Query, ok bool) {
	m, p := t.Manifest(), t.left()
	return rolls.Query{
		Layout: t.Layout(), Schema: m.Schema, Region: r, Span: span, Files: m.Files, Perhaps: p.rolls, Unsure: t.store.expires(span, time.Now()),
	}, !t.store.others && rolled(m) && p.covered
}

// rolled reports whether the rolls of a table name all users of its loads, and the table was empty
// before its first load.
func rolled(m *manifest.Table) bool {
	if !m.Alone {
		return false
	}
	have := map[int]bool{}
	for i := range m.Files {
		have[m.Files[i].Load] = true
	}
	for _, l := range m.Loads {
		if l.Records > 0 && !have[l.Number] {
			return false
		}
	}
	return true
}

// expires reports whether rows of a span may have expired. If the user may not see the family's TTL,
// expires assumes that there is none.
func (s *Store) expires(span behaviour.Span, now time.Time) bool {
	if s.schema == nil {
		return false
	}
	ttl, err := ttlOf(s.schema)
	if err != nil {
		return true
	}
	const day = 24 * time.Hour // dates are of any time zone
	return ttl > 0 && span.From.Start(time.UTC).Add(-day).Before(now.Add(-ttl))
}

// perhaps describes the rows that an unfinished load may have left in the table.
type perhaps struct {
	rolls   []manifest.File
	covered bool // the rolls name all users
	begun   bool
	alone   bool                // if begun: the table was empty before
	layout  string              // of its rows, "" if it is not known
	schemas []*behaviour.Schema // of its rows
}

// perhaps reads the files of unfinished loads, which the manifest does not have yet.
func (s *Store) perhaps(ctx context.Context) (perhaps, error) {
	left, err := catalog.Left(ctx, s.fs, s.dir)
	if err != nil {
		return perhaps{}, err
	}
	h, err := catalog.Handover(ctx, s.fs, s.dir)
	if err != nil {
		return perhaps{}, err
	}
	p := perhaps{covered: left.Covered(), begun: len(left.Inputs)+len(left.Rolls) > 0, alone: left.Alone, layout: left.Layout}
	if left.Schema != nil {
		p.schemas = append(p.schemas, left.Schema)
	}
	for i := range left.Rolls {
		p.rolls = append(p.rolls, left.Rolls[i].File)
	}
	if h != nil && h.Table.Schema != nil {
		p.schemas = append(p.schemas, h.Table.Schema)
	}
	if h != nil {
		p.rolls = append(p.rolls, filesOf(h)...)
	}
	return p, nil
}

// filesOf returns the files of the load that is being handed over.
func filesOf(h *manifest.Handover) []manifest.File {
	var out []manifest.File
	for _, f := range h.Table.Files {
		if f.Load == h.Load.Number {
			out = append(out, f)
		}
	}
	return out
}

func (t *Table) left() perhaps {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.perhaps
}

// lookAgain updates perhaps. Methods that change the files of unfinished loads call it.
func (t *Table) lookAgain(ctx context.Context) error {
	p, err := t.store.perhaps(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.perhaps = p
	return nil
}

// Alone implements table.Putter. It relies on the state of the table
// before the first load, and on the jobs of all loads.
func (t *Table) Alone(ctx context.Context) (bool, error) {
	if t.store.others {
		return false, nil
	}
	if t.NextLoad() > 1 {
		return t.Manifest().Alone, nil
	}
	if err := t.lookAgain(ctx); err != nil {
		return false, err
	}
	if p := t.left(); p.begun {
		return p.alone, nil
	}
	// HBase may show an empty table to a user who may not read it.
	if may, err := t.client.Allowed(ctx, t.address.Table, t.family, wire.PermitRead); !may || err != nil {
		return false, t.address.explain(err)
	}
	s := hbase.Scan{Columns: t.columns(), Filter: wire.AllOf(wire.FirstKeyOnly(), wire.KeyOnly(false)), ResultBytes: 1}
	err := t.client.Scan(ctx, t.address.Table, s, func(*cell.Cell) error { return errSomebody })
	if errors.Is(err, errSomebody) || errors.Is(err, hbase.ErrPermission) {
		return false, nil
	}
	return err == nil, t.address.explain(err)
}

var errSomebody = errors.New("the table has a row")
