package live

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// Forget sets the table's catalog aside and returns its new folder. The next load is then a first
// load. Forget returns ErrUnfit if the table has rows, because a second load of their files would
// double them. With othersRows it accepts rows: the caller knows that no load put them. It also returns ErrUnfit if the
// catalog is of another table. It wraps table.ErrNoTable if there is no catalog.
func (s *Store) Forget(ctx context.Context, othersRows bool) (aside string, err error) {
	lock, err := s.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if !othersRows {
		if err := s.empty(ctx); err != nil {
			return "", err
		}
	}
	if err := s.ofThisTable(ctx); err != nil {
		return "", err
	}
	return catalog.Forget(ctx, s.fs, s.dir)
}

// ofThisTable returns an error if the catalog is of another table. A catalog whose manifest is missing or damaged is
// accepted.
func (s *Store) ofThisTable(ctx context.Context) error {
	m, err := catalog.ReadTable(ctx, s.fs, s.dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist) || errors.Is(err, manifest.ErrDamaged):
		return nil
	case err != nil:
		return err
	}
	return s.sameTable(m)
}

// empty returns an error that wraps ErrUnfit if any family of the table has a row.
func (s *Store) empty(ctx context.Context) error {
	// HBase may show an empty table to a user who may not read it.
	may, err := s.client.Allowed(ctx, s.address.Table, s.family, wire.PermitRead)
	if err == nil && !may {
		err = fmt.Errorf("%w: reading", hbase.ErrPermission)
	}
	if err != nil {
		return s.address.explain(err)
	}
	scan := hbase.Scan{Filter: wire.AllOf(wire.FirstKeyOnly(), wire.KeyOnly(false)), ResultBytes: 1, Limit: 1}
	var row []byte
	err = s.client.Scan(ctx, s.address.Table, scan, func(c *cell.Cell) error {
		row = append(row[:0], c.Row...)
		return errSomebody
	})
	if errors.Is(err, errSomebody) {
		return fmt.Errorf("table %s: %w: it has rows, %q for one: truncate it first, in HBase's shell: truncate_preserve '%s'; or add --keep-rows if no load put them there",
			s.address, table.ErrUnfit, row, s.address.Table)
	}
	return s.address.explain(err)
}
