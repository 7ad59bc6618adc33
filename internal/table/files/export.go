package files

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
)

// exportAhead bounds what all files that are exported at once read ahead.
const exportAhead = 32 << 20

var everyDate = behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}

// Export gives the cells that some loads brought to a region, all of them in order.
// A cell is valid until emit returns.
func (t *Table) Export(ctx context.Context, loads []int, r split.Region, emit func(*cell.Cell) error) error {
	var e export
	files := slices.DeleteFunc(among(t.Manifest().Files, r, everyDate), func(f *manifest.File) bool {
		return !slices.Contains(loads, f.Load)
	})
	for _, f := range files {
		h, err := t.openHFile(ctx, f)
		if err != nil {
			return err
		}
		x := &exported{name: f.Name, it: h.Iterator(hfile.IterOptions{ReadAhead: min(readAhead, exportAhead/len(files))}), end: r.End}
		if x.seek(r.Start) {
			e = append(e, x)
		} else if err := x.it.Err(); err != nil {
			return fmt.Errorf("read %s: %w", dfs.Join(t.Dir(), f.Name), err)
		}
	}
	heap.Init(&e)
	for n := 0; len(e) > 0; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		x := e[0]
		if err := emit(x.it.Cell()); err != nil {
			return err
		}
		if x.next() {
			heap.Fix(&e, 0)
			continue
		}
		if err := x.it.Err(); err != nil {
			return fmt.Errorf("read %s: %w", dfs.Join(t.Dir(), x.name), err)
		}
		heap.Pop(&e)
	}
	return nil
}

// exported is a place in one of the files.
type exported struct {
	name string
	it   *hfile.Iterator
	end  []byte
}

func (x *exported) seek(start []byte) bool {
	if len(start) == 0 {
		return x.it.First() && x.within()
	}
	return x.it.SeekGE(start) && x.within()
}

func (x *exported) next() bool { return x.it.Next() && (x.it.SameRow() || x.within()) }

func (x *exported) within() bool {
	return len(x.end) == 0 || bytes.Compare(x.it.Cell().Row, x.end) < 0
}

// An export is a heap of places, the first cell's on top. No cell stands in two
// files.
type export []*exported

func (e export) Len() int           { return len(e) }
func (e export) Less(i, j int) bool { return cell.Compare(e[i].it.Cell(), e[j].it.Cell()) < 0 }
func (e export) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *export) Push(x any)        { *e = append(*e, x.(*exported)) }
func (e *export) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
