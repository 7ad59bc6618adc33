package files

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// mergeAhead bounds what all files that are merged at once read ahead.
const mergeAhead = 32 << 20

var everyDate = behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}

// inOrder gives the rows of q's ranges in order. Where it is enough to know that a row
// exists, its first cell in each file that has it comes alone.
func (t *Table) inOrder(ctx context.Context, files []*manifest.File, q table.Query, emit func(*cell.Cell) error) error {
	places, err := t.places(ctx, files)
	if err != nil {
		return err
	}
	next := (*place).next
	if q.Exist {
		next = (*place).nextRow
	}
	for r := range q.Ranges {
		if err := t.merge(ctx, places, r, next, emit); err != nil {
			return err
		}
	}
	return nil
}

// merge gives cells of a range in the order of all files, going from one to the next
// of a file by next.
func (t *Table) merge(ctx context.Context, places []*place, r split.Region, next func(*place) bool, emit func(*cell.Cell) error) error {
	var m merge
	for _, x := range places {
		x.end = r.End
		if x.seek(r.Start) {
			m = append(m, x)
		} else if err := x.it.Err(); err != nil {
			return fmt.Errorf("read %s: %w", dfs.Join(t.Dir(), x.name), err)
		}
	}
	heap.Init(&m)
	for n := 0; len(m) > 0; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		x := m[0]
		if err := emit(x.it.Cell()); err != nil {
			return err
		}
		if next(x) {
			heap.Fix(&m, 0)
			continue
		}
		if err := x.it.Err(); err != nil {
			return fmt.Errorf("read %s: %w", dfs.Join(t.Dir(), x.name), err)
		}
		heap.Pop(&m)
	}
	return nil
}

// A place is one in one of the files.
type place struct {
	name string
	it   *hfile.Iterator
	end  []byte
}

// places are before the first cells of files.
func (t *Table) places(ctx context.Context, files []*manifest.File) ([]*place, error) {
	var out []*place
	for _, f := range files {
		h, err := t.openHFile(ctx, f)
		if err != nil {
			return nil, err
		}
		out = append(out, &place{name: f.Name, it: h.Iterator(hfile.IterOptions{ReadAhead: min(readAhead, mergeAhead/len(files))})})
	}
	return out, nil
}

func (x *place) seek(start []byte) bool {
	if len(start) == 0 {
		return x.it.First() && x.within()
	}
	return x.it.SeekGE(start) && x.within()
}

func (x *place) next() bool { return x.it.Next() && (x.it.SameRow() || x.within()) }

func (x *place) nextRow() bool {
	for x.it.Next() {
		if !x.it.SameRow() {
			return x.within()
		}
	}
	return false
}

func (x *place) within() bool {
	return len(x.end) == 0 || bytes.Compare(x.it.Cell().Row, x.end) < 0
}

// A merge is a heap of places, the first cell's on top. No cell stands in two files.
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
