package files

import (
	"container/heap"
	"context"
	"fmt"

	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// mergeAhead limits the bytes that all files of a merge read ahead.
const mergeAhead = 32 << 20

// inOrder calls emit for the rows of q's ranges in order.
func (t *Table) inOrder(ctx context.Context, files []*manifest.File, q *table.Query, emit func(*cell.Cell) error) error {
	places, err := t.places(ctx, files, q)
	if err != nil {
		return err
	}
	for r := range q.Ranges {
		if err := merged(places, r, emit); err != nil {
			return err
		}
	}
	return nil
}

// merged calls emit for the requested cells of a range, merged from all files in order.
func merged(places []*place, r split.Region, emit func(*cell.Cell) error) error {
	return mergedFrom(places, r, func(_ *place, c *cell.Cell) error { return emit(c) })
}

// mergedFrom is merged with the place of each cell.
func mergedFrom(places []*place, r split.Region, emit func(*place, *cell.Cell) error) error {
	var m merge
	for _, x := range places {
		x.check()
		if x.seek(r.Start, r.End) {
			m = append(m, x)
		} else if err := x.err(); err != nil {
			return fmt.Errorf("read %s: %w", x.name, table.Corrupt(err))
		}
	}
	heap.Init(&m)
	for len(m) > 0 {
		x := m[0]
		if err := emit(x, x.it.Cell()); err != nil {
			return err
		}
		if x.next() {
			heap.Fix(&m, 0)
			continue
		}
		if err := x.err(); err != nil {
			return fmt.Errorf("read %s: %w", x.name, table.Corrupt(err))
		}
		heap.Pop(&m)
	}
	return nil
}

// places returns a place at the beginning of each file that can have cells of q's times.
func (t *Table) places(ctx context.Context, files []*manifest.File, q *table.Query) ([]*place, error) {
	asked := t.choiceOf(q)
	var out []*place
	for _, f := range files {
		h, err := t.openHFile(ctx, f)
		if err != nil {
			return nil, err
		}
		if !outside(h, q.Times) {
			out = append(out, t.placeIn(ctx, f, h, asked, min(readAhead, mergeAhead/len(files))))
		}
	}
	return out, nil
}

// A merge is a heap of places. The place with the first cell is on top. No cell is in two files.
type merge []*place

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return cell.Compare(m[i].it.Cell(), m[j].it.Cell()) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(*place)) }
func (m *merge) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	*m = (*m)[:last]
	return x
}
