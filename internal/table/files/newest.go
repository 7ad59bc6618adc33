package files

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// readNewest reads files from the latest days to the first. It skips a file for a range if
// later files had as many rows or columns of the range as the query requests. The latest events
// of a user who is active every day are in few files, however many nights there are.
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
			return fmt.Errorf("read %s: %w", x.name, table.Corrupt(err))
		}
	}
	return nil
}

// newest returns the number of requested rows that were found in a range, or of columns if the
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

// laterFiles counts the rows or columns of each range that were found in files of later days
// than the current file.
type laterFiles struct {
	newest int
	counts []int
	near   []*fileCounts // files that can have the same days as the next file
	file   *fileCounts   // the current file
}

// A fileCounts has the counts of a file, by range, and the file's first day.
type fileCounts struct {
	from   behaviour.Date
	counts []int
}

// goTo moves to the next file. Its last day must not be after the last days of the files
// before. goTo reports whether later files had enough of every range. A later file counts if
// it begins at least two days later: if a clock is put back over midnight, a day returns after
// the next day has begun.
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
