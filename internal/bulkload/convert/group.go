package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// A group holds the files of the old table that have the same last load. The conversion writes
// them as one file for each new region.
type group struct {
	load    int
	files   []manifest.File
	merged  bool // some of the files hold rows of other loads too
	span    behaviour.Span
	records int64
	size    int64 // bytes of the files
	cells   tally.Tally
}

// groups returns the groups in order of load.
func (r *run) groups() []*group {
	by := map[int]*group{}
	for _, f := range r.m.Files {
		g := by[f.Load]
		if g == nil {
			g = &group{load: f.Load, span: f.Span}
			by[f.Load] = g
		}
		g.files = append(g.files, f)
		g.merged = g.merged || len(f.Loads) > 0
		g.span.Add(f.Span)
		g.records += f.Records
		g.size += f.Size
		g.cells.Add(f.Tally)
	}
	return slices.SortedFunc(maps.Values(by), func(a, b *group) int { return cmp.Compare(a.load, b.load) })
}

// convert writes the files of all groups that are not done yet.
func (r *run) convert(ctx context.Context) (err error) {
	var todo []*group
	var size int64
	for _, g := range r.groups() {
		if i := slices.IndexFunc(r.done, func(c *manifest.Converted) bool { return c.Load == g.load }); i >= 0 {
			r.result.Already += len(r.done[i].Files)
			continue
		}
		todo = append(todo, g)
		size += g.size
	}
	if err := r.room(ctx, todo); err != nil {
		return err
	}
	s, err := shuffle.New(shuffle.Config{
		FS: r.cfg.FS, Dir: r.cfg.Temp, Memory: r.memory(), Parts: len(r.plan.Splits) + 1, Shards: r.cfg.Workers, Readers: r.cfg.Workers,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	r.progress.Step("converting", progress.Bytes, size)
	for _, g := range todo {
		if err := r.group(ctx, g, s); err != nil {
			return err
		}
	}
	return nil
}

// memory returns how many bytes shuffle may use.
func (r *run) memory() int64 { return segment.SortMemory(r.cfg.Memory) }

// rowSpill configures how a row of a file is sorted on disk if it is too large for memory.
func (r *run) rowSpill(file string) shuffle.Config {
	return shuffle.Config{FS: r.cfg.FS, Dir: dfs.Join(r.cfg.Temp, "rows-"+dfs.Base(file)), Memory: segment.RowMemory(r.cfg.Memory, r.cfg.Workers)}
}

// rollSpill configures how the roll of a file is sorted.
func (r *run) rollSpill(file string) shuffle.Config {
	return shuffle.Config{FS: r.cfg.FS, Dir: dfs.Join(r.cfg.Temp, file+segment.RollEnding), Memory: segment.RowMemory(r.cfg.Memory, r.cfg.Workers)}
}

// readAhead returns how many bytes of a file are read at once.
func (r *run) readAhead() int {
	return int(min(max(segment.RowMemory(r.cfg.Memory, r.cfg.Workers), leastAhead), mostAhead))
}

// group writes the files of one group, and records that they are done.
func (r *run) group(ctx context.Context, g *group, s *shuffle.Sorter) error {
	if err := r.read(ctx, g, s); err != nil {
		return err
	}
	if err := s.Finish(ctx); err != nil {
		return err
	}
	done, err := r.write(ctx, g, s)
	if err != nil {
		return err
	}
	if err := r.shop.Add(ctx, done); err != nil {
		return err
	}
	r.done = append(r.done, done)
	r.result.Read += g.size
	r.log.Info("converted", "load", g.load, "files", len(g.files), "into", len(done.Files))
	return s.Reset(ctx)
}

// read adds all records of a group to s. Up to Workers files are read at once.
func (r *run) read(ctx context.Context, g *group, s *shuffle.Sorter) error {
	free := make(chan *shuffle.Shard, r.cfg.Workers)
	for i := range r.cfg.Workers {
		free <- s.Shard(i)
	}
	points := manifest.PointsOf(r.plan.Splits)
	w, ctx := errgroup.WithContext(ctx)
	w.SetLimit(r.cfg.Workers)
	for i := range g.files {
		w.Go(func() error {
			shard := <-free
			defer func() { free <- shard }()
			return r.readFile(ctx, &g.files[i], shard, points)
		})
	}
	return w.Wait()
}

// write writes the files of all regions of a group, up to Workers of them at once.
func (r *run) write(ctx context.Context, g *group, s *shuffle.Sorter) (*manifest.Converted, error) {
	regions := len(r.plan.Splits) + 1
	all := make([]manifest.File, regions)
	sum := segment.NewTallies()
	var settling sync.Mutex
	w, gctx := errgroup.WithContext(ctx)
	w.SetLimit(r.cfg.Workers)
	for region := range regions {
		w.Go(func() error {
			x, err := r.writeRegion(gctx, g, region, s)
			if err != nil {
				return err
			}
			settling.Lock()
			defer settling.Unlock()
			sum.Merge(x.tallies)
			all[region] = x.file
			return nil
		})
	}
	if err := w.Wait(); err != nil {
		return nil, err
	}
	done := &manifest.Converted{Load: g.load, Files: []manifest.File{}}
	var records int64
	for _, f := range all {
		records += f.Records
		if f.Records > 0 {
			done.Files = append(done.Files, f)
		}
	}
	if records != g.records {
		return nil, fmt.Errorf("the files of load %d: %d records were read, and %d written", g.load, g.records, records)
	}
	done.Loads = r.loads(sum)
	return done, nil
}

// loads returns, for each load, its records and cells in the converted files.
func (r *run) loads(sum *segment.Tallies) []manifest.Load {
	out := []manifest.Load{}
	for _, load := range sum.Loads() {
		out = append(out, manifest.Load{
			Version: manifest.Version, Number: load,
			Days: sum.Days(load, r.m.Schema), Regions: sum.Regions(load, manifest.PointsOf(r.plan.Splits)),
		})
	}
	return out
}

// regionsOf returns the regions between the split points.
func regionsOf(splits []manifest.Key) []manifest.Region {
	out := make([]manifest.Region, len(splits)+1)
	for i, k := range splits {
		out[i+1].First = k
	}
	return out
}

// room returns an error if there is too little space. The new files need about as much space as
// the old files. The sorted runs need as much as the largest group that does not fit into
// memory.
func (r *run) room(ctx context.Context, todo []*group) error {
	var files, runs int64
	for _, g := range todo {
		files += g.size
		if n := g.cells.Bytes; n > r.memory() {
			runs = max(runs, n)
		}
	}
	inside, err := dfs.Holds(ctx, r.cfg.FS, r.cfg.Out.Address(), r.cfg.Temp)
	if err != nil {
		return err
	}
	if inside {
		return precheck.Demand(ctx, r.cfg.FS, r.cfg.Out.Address(), files+runs, "make room")
	}
	if err := precheck.Demand(ctx, r.cfg.FS, r.cfg.Out.Address(), files, "make room"); err != nil {
		return err
	}
	return precheck.Demand(ctx, r.cfg.FS, r.cfg.Temp, runs, "make room, or name another --temp")
}
