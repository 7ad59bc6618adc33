package replay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/store/dfs"
)

// A lineEnd is the outcome of a line of the replayed quarantine file.
type lineEnd int

const (
	stays  lineEnd = iota
	loaded         // the record is in the table, or it is a duplicate
	moved          // the record is bad again, and it is in another quarantine file
)

// remove removes the lines that do not stay from the quarantine file. If no line stays, the file is empty, so that the
// same replay again has nothing to do. The load is committed.
func (p *replay) remove(ctx context.Context, inputs []*batch.Input) error {
	ends := map[string]func(offset int64) lineEnd{} // by path
	for i, f := range p.files {
		end := p.endOf(f, inputs[i])
		for _, name := range f.names {
			ends[name] = end
		}
	}
	n, err := p.rewrite(ctx, func(r *quarantine.Record) lineEnd {
		end := ends[r.Path]
		if end == nil {
			return stays
		}
		e := end(r.Offset)
		if e == moved && !r.Cut && len(r.Raw) > p.cfg.Job.Format.Longest() {
			return stays // the new line has only the beginning of the text
		}
		return e
	})
	if err != nil {
		return fmt.Errorf("the records are loaded, and their lines are still in %s: %w", p.from.name, err)
	}
	p.result.Removed = n
	return nil
}

// endOf returns a function that returns the outcome of the line of the record at an offset.
func (p *replay) endOf(f *file, in *batch.Input) func(offset int64) lineEnd {
	places, bad := in.Places(), in.Bad().BadAt().List()
	// If all bad records are known and none was skipped, the others are duplicates.
	sure := !in.Failed() && p.result.Skipped == 0 && int64(len(bad)) == in.Bad().Count()
	elsewhere := dfs.Base(p.from.name) != dfs.Base(in.Bad().Name())
	return func(offset int64) lineEnd {
		switch {
		case !has(f.offsets, offset), has(f.others, offset):
			return stays // also the lines that a failed replay did not read
		case f.replayedBefore(offset), has(places, offset):
			return loaded
		case !in.Failed() && has(bad, offset):
			if elsewhere {
				return moved
			}
			return stays
		case sure:
			return loaded
		}
		return stays
	}
}

// has reports whether sorted offsets have an offset.
func has(offsets []int64, offset int64) bool {
	_, found := slices.BinarySearch(offsets, offset)
	return found
}

// rewrite writes the quarantine file with the lines that stay. It returns the number of loaded records.
func (p *replay) rewrite(ctx context.Context, endOf func(*quarantine.Record) lineEnd) (removed int64, err error) {
	fs, name := p.cfg.FS, p.from.name
	from, err := dfs.OpenRegular(ctx, fs, name)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	to, err := fs.Create(ctx, name)
	if err != nil {
		return 0, err
	}
	defer to.Abort()
	out := bufio.NewWriter(to)
	left, all := 0, 0
	for in := bufio.NewReader(from); ; {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return 0, err
		}
		var r quarantine.Record
		end := stays
		if len(line) > 1 {
			all++
			if r.Place(line) == nil {
				end = endOf(&r)
			}
			if end == stays {
				left++
				if _, err := out.Write(line); err != nil {
					return 0, err
				}
			}
		}
		if end == loaded {
			removed++
		}
		if err == io.EOF {
			break
		}
	}
	if left == all {
		return 0, nil
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	return removed, to.Commit()
}
