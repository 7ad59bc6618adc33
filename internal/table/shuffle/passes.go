package shuffle

import (
	"context"
	"errors"
	"fmt"

	"usertrail/internal/store/dfs"
)

// minFanIn and maxFanIn limit the number of runs that are read at once. With fewer than 16 runs, a
// small memory would need many passes over the data. Each run is an open file of each reader, so more
// than 128 runs would be too many open files.
const (
	minFanIn = 16
	maxFanIn = 128
)

// fanIn returns the number of runs that one iterator reads at once with its buffers. A buffer grows to
// the largest record, so an iterator of large records reads fewer runs.
func (s *Sorter) fanIn() int {
	each, least := int64(minReadBuffer), int64(minFanIn)
	for _, sh := range s.shards {
		if n := int64(sh.largest); n > each {
			each, least = n, 2
		}
	}
	return int(min(maxFanIn, max(least, s.buffer/each)))
}

// mergeRuns merges runs into larger ones until one iterator can read them all.
// It merges the oldest runs first, because they are the smallest, and only as many runs as needed.
func (s *Sorter) mergeRuns(ctx context.Context) error {
	for fan := s.fanIn(); len(s.runs) > fan; {
		k := min(fan, len(s.runs)-fan+1)
		r, err := s.mergeOnce(ctx, s.runs[:k])
		if err != nil {
			return fmt.Errorf("shuffle: merge %d of %d runs: %w", k, len(s.runs), err)
		}
		s.runs = append(s.runs[k:len(s.runs):len(s.runs)], r)
	}
	return nil
}

// mergeOnce merges runs into one and removes them.
func (s *Sorter) mergeOnce(ctx context.Context, runs []*run) (*run, error) {
	name := dfs.Join(s.cfg.Dir, fmt.Sprintf("merge-%05d", s.begun))
	s.begun++
	s.merged = append(s.merged, name)
	merged, err := s.writeMerged(ctx, name, runs)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if err := s.cfg.FS.Remove(ctx, r.name); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

// writeMerged merges the records of runs into the run called name. The buffers of all runs and of the new
// run together use the memory of one iterator.
func (s *Sorter) writeMerged(ctx context.Context, name string, runs []*run) (*run, error) {
	buffer := make([]byte, min(s.buffer, int64(len(runs)+1)*maxReadBuffer))
	out := len(buffer) / (len(runs) + 1)
	w, err := createRun(ctx, s.cfg.FS, name, s.cfg.Parts, buffer[:0:out])
	if err != nil {
		return nil, err
	}
	defer w.abort()
	for p := range s.cfg.Parts {
		segments := segmentsOf(runs, p)
		share(buffer[out:], segments)
		err := openAll(ctx, s.cfg.FS, segments)
		if err == nil {
			err = mergePart(ctx, w, segments)
		}
		if err := errors.Join(err, closeAll(segments)); err != nil {
			return nil, err
		}
		w.endPart()
	}
	return w.commit(ctx)
}

// mergePart adds the records of segments to w in order.
func mergePart(ctx context.Context, w *runWriter, segments []*segment) error {
	var t tree
	for _, s := range segments {
		t.cursors = append(t.cursors, cursor{seg: s})
	}
	if err := t.start(); err != nil {
		return err
	}
	for len(t.cursors) > 0 && !t.cursors[t.winner].done {
		if err := w.add(ctx, t.cursors[t.winner].seg.last()); err != nil {
			return err
		}
		if err := t.next(); err != nil {
			return err
		}
	}
	return nil
}
