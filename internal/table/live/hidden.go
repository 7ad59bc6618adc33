package live

import (
	"bytes"
	"context"
	"math"

	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/table/snapshot"
)

// Hidden calls emit for the cells of a range that deletes hide. The cells are in the table, but no
// reader sees them. A major compaction drops them.
func (t *Table) Hidden(ctx context.Context, r split.Region, emit func(*cell.Cell) error) error {
	s := hbase.Scan{Start: r.Start, Stop: r.End, Columns: t.columns(), Raw: true, MaxVersions: math.MaxInt32}
	var deletes snapshot.Deletes
	var last *cell.Cell
	err := t.client.Scan(ctx, t.address.Table, s, func(c *cell.Cell) error {
		hidden, err := deletes.Hide(c)
		if err != nil || !hidden || last != nil && cell.Compare(last, c) == 0 { // written twice
			return err
		}
		last = c.Clone()
		return emit(c)
	})
	return t.address.explain(err)
}

// hiddenUsers is the number of users of a load whose rows are checked for deletes.
const hiddenUsers = 32

// HiddenSample checks the rows of some users of the newest load. It returns the number of cells of
// the load that deletes hide there, and the row of one such cell.
func (t *Table) HiddenSample(ctx context.Context) (cells int64, row []byte, err error) {
	loads := t.Manifest().Loads
	if len(loads) == 0 {
		return 0, nil, nil
	}
	load := &loads[len(loads)-1]
	files := t.filesToAsk(load)
	p, err := t.newProbe(ctx, load)
	if err != nil {
		return 0, nil, err
	}
	count := func(c *cell.Cell) error {
		rec, ok := p.teller.Tell(c)
		if !ok || rec.ID == layout.NoID {
			return nil
		}
		if _, ours := p.origins.Load(rec.ID, rec.Date, p.kind(rec)); ours {
			cells++
			row = append(row[:0], c.Row...)
		}
		return nil
	}
	for i := range files {
		err := p.eachUser(ctx, &files[i], (hiddenUsers+len(files)-1)/len(files), func(reads *layout.Reads, key []byte) (err error) {
			reads.Ranges(key, func(start, stop []byte) bool {
				err = t.Hidden(ctx, split.Region{Start: bytes.Clone(start), End: bytes.Clone(stop)}, count)
				return err == nil
			})
			return err
		})
		if err != nil {
			return cells, row, err
		}
	}
	return cells, row, nil
}
