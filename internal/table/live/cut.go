package live

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// cutAll cuts each file that is no longer in one region. It records the parts before it removes
// the file.
func (h *handover) cutAll(ctx context.Context, files []manifest.Staged, regions []hbase.Region) ([]manifest.Staged, error) {
	var out []manifest.Staged
	var old []string
	for _, f := range files {
		ends := endsWithin(f, regions)
		if len(ends) == 0 {
			out = append(out, f)
			continue
		}
		pieces, err := h.cut(ctx, f, ends)
		if err != nil {
			return nil, err
		}
		out, old = append(out, pieces...), append(old, f.Name)
	}
	if len(old) == 0 {
		return out, nil
	}
	h.Files = out
	if err := h.SetHandover(ctx, h.Handover); err != nil {
		return nil, err
	}
	for _, name := range old {
		if err := h.store.fs.Remove(ctx, dfs.Join(h.Staging, name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// endsWithin returns the boundaries of regions within a file, in ascending order.
func endsWithin(f manifest.Staged, regions []hbase.Region) [][]byte {
	var ends [][]byte
	for _, r := range regions {
		if len(r.End) > 0 && bytes.Compare(r.End, f.First) > 0 && bytes.Compare(r.End, f.Last) <= 0 {
			ends = append(ends, r.End)
		}
	}
	return ends
}

// cut rewrites a staged file as several files, which are divided at ends.
func (h *handover) cut(ctx context.Context, f manifest.Staged, ends [][]byte) ([]manifest.Staged, error) {
	in, r, err := openStaged(ctx, h, f.Name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &cutter{h: h, name: strings.TrimSuffix(f.Name, ".hfile")}
	defer c.abort()
	it := r.Iterator(hfile.IterOptions{ReadAhead: 1 << 20})
	for ok, fresh := it.First(), true; ok; ok, fresh = it.Next(), false {
		if fresh || !it.SameRow() {
			for len(ends) > 0 && bytes.Compare(it.Cell().Row, ends[0]) >= 0 {
				ends = ends[1:]
				if err := c.end(ctx); err != nil {
					return nil, err
				}
			}
		}
		if err := c.add(ctx, it); err != nil {
			return nil, err
		}
	}
	if err := it.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	if err := c.end(ctx); err != nil {
		return nil, err
	}
	if c.sum != f.Tally {
		return nil, fmt.Errorf("split %s again: its pieces hold %s, the file held %s", f.Name, c.sum, f.Tally)
	}
	return c.pieces, nil
}

// A cutter writes one part after the other.
type cutter struct {
	h      *handover
	name   string
	pieces []manifest.Staged
	sum    tally.Tally

	out   *segment.HFile // nil between parts
	count tally.Counter
}

func (c *cutter) add(ctx context.Context, it *hfile.Iterator) (err error) {
	if c.out == nil {
		p := manifest.Staged{Name: fmt.Sprintf("%s-%d.hfile", c.name, len(c.pieces))}
		p.First = bytes.Clone(it.Cell().Row)
		p.Qualifier, p.Time = bytes.Clone(it.Cell().Qualifier), it.Cell().Time
		if c.out, err = segment.CreateHFile(ctx, c.h, p.Name); err != nil {
			return err
		}
		c.pieces, c.count = append(c.pieces, p), tally.Counter{}
	}
	c.count.Add(it.Cell())
	return c.out.Add(it.Cell())
}

// end completes the current part, if there is one.
func (c *cutter) end(ctx context.Context) error {
	if c.out == nil {
		return nil
	}
	meta, err := c.out.Finish(ctx, c.count.Tally)
	if err != nil {
		return err
	}
	p := &c.pieces[len(c.pieces)-1]
	p.Last, p.Tally = meta.LastRow, c.count.Tally
	c.sum.Add(p.Tally)
	c.out = nil
	return nil
}

func (c *cutter) abort() {
	if c.out != nil {
		c.out.Abort()
	}
}
