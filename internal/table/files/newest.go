package files

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// readNewest goes through files from the latest days to the first, and leaves a file
// alone where later ones had as much of a range as is asked for. So the latest few of a
// user who comes every day are in few files, however many nights there are.
func (t *Table) readNewest(ctx context.Context, files []*manifest.File, q *table.Query, emit func(*cell.Cell) error) error {
	slices.SortStableFunc(files, func(a, b *manifest.File) int { return cmp.Compare(b.Span.To, a.Span.To) })
	asked, of := t.choiceOf(q), t.Layout().Traits().Newest
	later := laterFiles{newest: q.Newest}
	for range q.Ranges {
		later.counts = append(later.counts, 0)
	}
	for _, f := range files {
		if later.goTo(f.Span) {
			return nil
		}
		h, err := t.openHFile(ctx, f)
		if err != nil {
			return err
		}
		if outside(h, q.Times) {
			continue
		}
		x := t.placeIn(ctx, f, h, asked, readAhead)
		i := -1
		err = x.scan(func(yield func(split.Region) bool) {
			for r := range q.Ranges {
				if i++; later.counts[i] >= q.Newest {
					continue
				}
				more := yield(r)
				if later.file.counts[i] = x.newest(of, r); !more {
					return
				}
			}
		}, emit)
		if err != nil {
			return fmt.Errorf("read %s: %w", x.name, err)
		}
	}
	return nil
}

// newest is how much of a range was found that is asked for. Columns count where the
// range is one row.
func (x *place) newest(of layout.Newest, r split.Region) int {
	switch {
	case of == layout.NewestRows:
		return x.rowsFound
	case x.rowsFound > 0 && len(r.End) == len(r.Start)+1 && bytes.HasPrefix(r.End, r.Start) && r.End[len(r.Start)] == 0:
		return x.columns
	}
	return 0
}

// laterFiles count, by range, what was found in files of later days than those of the
// file at hand.
type laterFiles struct {
	newest int
	counts []int
	near   []*fileCounts // of files that can have the same days as the next
	file   *fileCounts   // the one at hand
}

// A fileCounts is what was found in a file of days from one on, by range.
type fileCounts struct {
	from   behaviour.Date
	counts []int
}

// goTo goes on to a file, whose last day is not after those of the files before it, and
// says whether later files had enough of every range. What was found counts from two
// days later on: where a clock is put back over midnight, a day comes back after the
// next has begun.
func (l *laterFiles) goTo(span behaviour.Span) (enough bool) {
	l.near = slices.DeleteFunc(l.near, func(f *fileCounts) bool {
		if f.from <= span.To+1 {
			return false
		}
		for i, n := range f.counts {
			l.counts[i] += n
		}
		return true
	})
	l.file = &fileCounts{span.From, make([]int, len(l.counts))}
	l.near = append(l.near, l.file)
	return !slices.ContainsFunc(l.counts, func(n int) bool { return n < l.newest })
}
