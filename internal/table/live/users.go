package live

import (
	"context"
	"errors"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/catalog"
	"usertrail/internal/cell"
	"usertrail/internal/hbase"
	"usertrail/internal/hbase/wire"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/rolls"
)

// Users implements table.Table: the rolls of all loads tell who has rows, unless there
// may be some that no roll knows. Then the rows tell.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	q, ok := t.question(r, span)
	if !ok {
		return table.RowUsers(ctx, t, r, span), nil
	}
	return t.rolls.Users(ctx, q)
}

// question is what to ask the rolls, if they know everybody.
func (t *Table) question(r split.Region, span behaviour.Span) (q rolls.Question, ok bool) {
	m, p := t.Manifest(), t.left()
	return rolls.Question{
		Layout: t.Layout(), Schema: m.Schema, Region: r, Span: span, Files: m.Files, Perhaps: p.rolls, Unsure: t.store.expires(span, time.Now()),
	}, !t.store.others && rolled(m) && p.covered
}

// rolled says whether a table's rolls name everybody whom its loads brought, and there
// was nobody before them.
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

// expires says whether rows of a span may be gone because of their age. A user who
// may not see the family's TTL is taken to have none.
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

// perhaps is what a load that ran, or was killed, may have left when it was looked for.
type perhaps struct {
	rolls   []manifest.File
	covered bool // they name everybody
	begun   bool
	alone   bool                // where it is begun: the table was empty before
	schemas []*behaviour.Schema // of its rows
}

// perhaps looks for what loads have left that the manifest does not have yet.
func (s *Store) perhaps(ctx context.Context) (perhaps, error) {
	left, err := catalog.Left(ctx, s.fs, s.dir)
	if err != nil {
		return perhaps{}, err
	}
	h, err := catalog.Handover(ctx, s.fs, s.dir)
	if err != nil {
		return perhaps{}, err
	}
	p := perhaps{covered: left.Covered(), begun: len(left.Inputs)+len(left.Rolls) > 0, alone: left.Alone}
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

// filesOf are the files of the load that is handed over.
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

// lookAgain is for whoever changes what loads leave.
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

// alone says whether nobody but loads puts rows into the table, as far as the first load
// could see before it began, and as the jobs of all said.
func (t *Table) alone(ctx context.Context) (bool, error) {
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
	// Who may not read may be shown an empty table.
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
