// Package extract extracts the trails of active users from a table. Run does an extract in
// six steps:
//
//	settle    decides from the rolls, as far as they tell, who is active; divides the
//	          users into batches, batches of users that are read together
//	fetch     reads many batches at once, and returns them in order
//	sift      judges each user by the events of its trail, and removes the events that
//	          are not requested
//	cut       divides the trails into parts of about partEvents events or partBytes of
//	          values; a user is complete in one part
//	write     sorts the parts by user ID and writes many at once, as Output says; a
//	          partitioner sorts parts that go into directories
//	publish   renames the directory to its final name
//
// # Same query, same bytes
//
// Only the trails, in order of the users' keys, determine the parts. The number of workers, the
// memory and the table's regions do not change a byte.
//
// # Pieces
//
// Many machines share an extract by pieces: ranges of user keys that cover every key once. Plan
// cuts the pieces and describes each, RunPiece does one, and Commit makes the result. With
// Config.PieceSize, Run cuts the same pieces, and a part ends at the end of its piece. So the
// result is the same to the byte. The ends of pieces depend on the regions.
//
// # Killed at any moment
//
// Until the result is complete, it is in a hidden directory next to OUT. Each finished part has a
// record of its contents. The same command continues after the last part before which all parts are
// finished. If the query or the table has changed, it starts from the beginning.
//
// # Memory
//
// 2 × Workers batches of about 16,000 records and at most userBatchBytes are in flight, and
// Workers + 1 parts of about partEvents or partBytes. That is workerMemory for each
// worker, so Config.Memory limits the number of workers. With little memory, batches are smaller. A
// user with more than a batch is held whole, one such user at a time, up to about a quarter of the
// memory. The bytes are counted before they are held, and a user with more ends the extract with
// an error. The list of users is held to the end, and its memory is taken from the workers. A
// result in directories needs sortMemory more. If only rows tell which users exist, and the rows of
// a user are not adjacent, each pass over the rows collects as many users as fit into half of
// the rest.
package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"time"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A part ends at about partEvents events, or about partBytes of values. Tests set smaller values,
// so that a small result has several parts.
var (
	partEvents = 128 << 10
	partBytes  = 16 << 20
)

const (
	// MinMemory is the smallest Config.Memory in bytes that a process can keep to.
	MinMemory = 128 << 20
	// workerMemory is the memory of one worker in bytes. It was measured on parts of ten
	// columns: the resident set with two workers minus the resident set with one.
	workerMemory = 64 << 20
	// restMemory is the resident set with one worker that reads from HBase by scans, minus
	// workerMemory and the list.
	restMemory = 40 << 20
	// minWalk is the smallest Config.walkBytes.
	minWalk = 8 << 20
	// fullMemory is the memory of one worker without the trail of a user that is held whole.
	fullMemory = 96 << 20
)

// Config describes one extract. The comments give the defaults of zero fields.
type Config struct {
	FS     dfs.FS
	Table  table.Table
	Users  *userlist.List
	Span   behaviour.Span
	Types  []string
	Active string // all, any or min:N; all
	Conditions
	Output
	Known     *manifest.Table // the manifest of the table; by default Table's own
	Plan      fetch.Plan
	Out       string
	Overwrite bool
	Strict    bool     // foreign cells are an error
	Homes     []string // the table's directory or catalog: Out must be apart from them
	Lists     []string // files of Users: an Out that is replaced must not contain them
	PieceSize int64    // about how many behaviours of users who may be active; 0 means one piece

	Workers  int           // how many batches are read, and parts written, at once; 1
	Memory   int64         // of the process in bytes; 1 GiB
	Patience time.Duration // how long to wait for a load that is partly in the table; no wait
	Progress progress.Config
}

// A Result describes an extract.
type Result struct {
	Users int64 `json:"users"` // on the list; for all users, the same as Found
	Found int64 `json:"found"` // with at least one of the requested behaviours in the span
	// NotFound are the other users of the list.
	NotFound int64  `json:"not_found,omitempty"`
	Active   int64  `json:"active"` // users who meet --active and --without
	Kept     int64  `json:"kept"`   // users in the result
	Events   int64  `json:"events"`
	Foreign  int64  `json:"foreign,omitempty"` // cells that were read and skipped
	Files    int    `json:"files"`
	Out      string `json:"out"`

	Already bool `json:"already,omitempty"` // with an error that Out is there: it is the result of this query

	Calls int64 `json:"calls,omitempty"` // of servers, or reads of the table's files
	table.Held

	Notes []string `json:"notes,omitempty"` // what Notes says
	lost  missed

	foreign layout.Foreign
}

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	return outcome.Counts{outcome.Users: float64(r.Users), outcome.Found: float64(r.Found), outcome.Active: float64(r.Active), outcome.Kept: float64(r.Kept), outcome.Events: float64(r.Events), outcome.Files: float64(r.Files)}
}

// Made implements outcome.Maker.
func (r Result) Made() string { return r.Out }

func (c *Config) memory() int64 { return cmp.Or(c.Memory, 1<<30) }

// room returns the memory for workers in bytes.
func (c *Config) room() int64 {
	room := c.memory() - restMemory - c.Users.Bytes()
	if c.Output.Partition != "" {
		room -= c.sortMemory()
	}
	return room
}

// workers returns the number of workers that fit into memory. It returns an error if none fits
// next to the list.
func (c *Config) workers() (int, error) {
	room := c.room()
	if room < workerMemory {
		return 0, fmt.Errorf("%w: %d users do not fit in memory beside their trails: raise --memory to %s",
			userlist.ErrList, c.Users.Len(), mebibytes(restMemory+workerMemory+sortMemory+c.Users.Bytes()))
	}
	room -= int64(c.userBytes())
	return max(1, min(c.Workers, int(room/workerMemory))), nil
}

// walkBytes returns the memory in bytes for users whose rows are not adjacent, if only rows tell
// which users exist: half of the memory that the workers leave.
func (c *Config) walkBytes(workers int) int64 {
	return max(minWalk, (c.room()-int64(workers)*workerMemory)/2)
}

// userBatchBytes returns the largest size of the trails of a batch in bytes. Each worker has several batches
// in flight.
func (c *Config) userBatchBytes(workers int) int {
	room := c.memory() - restMemory - c.Users.Bytes()
	return min(userBatchBytes, int(room)/(32*workers))
}

// sortMemory returns the memory in bytes for sorting the files of directories.
func (c *Config) sortMemory() int64 { return min(sortMemory, c.memory()/32) }

// userBytes returns the largest trail of one user in bytes. The trail is held whole and must fit
// into memory with all other data. userBytes is the inverse of memoryFor.
func (c *Config) userBytes() int {
	m := c.memory() - c.Users.Bytes()
	return int(min((m-restMemory)/4, (m-fullMemory)/2, trail.MaxData))
}

// memoryFor returns the smallest Config.Memory for a trail and a list of so many bytes.
func memoryFor(trail int, list int64) int64 {
	return list + max(4*int64(trail)+restMemory, 2*int64(trail)+fullMemory, MinMemory)
}

// Run does an extract. If it returns nil, the directory Out is complete. If it returns an error, Out
// is unchanged. The error wraps fs.ErrExist if Out exists already. It wraps table.ErrChanged if a
// load has changed the table in the meantime: the caller may open the table again and call Run again.
func Run(ctx context.Context, c Config) (r Result, err error) {
	defer func() { r.Held = table.HeldBy(c.Table) }()
	q, err := newQuestion(&c)
	if err != nil {
		return Result{}, err
	}
	if err := CheckOut(ctx, &c); err != nil {
		return q.already(ctx, &c), err
	}
	if err := Settle(ctx, c.Table, c.Patience, c.Progress); err != nil {
		return Result{}, err
	}
	cuts, err := q.pieces(ctx, &c)
	if err != nil {
		return Result{}, err
	}
	out, err := openOutlet(ctx, &c, q, cuts.plan)
	if errors.Is(err, iofs.ErrExist) {
		return q.already(ctx, &c), err
	}
	if err != nil {
		return Result{}, err
	}
	defer out.close()
	before, _ := table.SpentBy(c.Table)
	counts, err := answer(ctx, &c, q, out, cuts.ranges)
	if err != nil {
		return Result{}, err
	}
	m := q.sketch()
	m.Plan = cuts.plan
	if !pinned(&c) {
		m.TableVersion = ""
	}
	lost, err := out.lost(ctx, q)
	if err != nil {
		return Result{}, err
	}
	fill(m, &counts, out.all())
	m.NotFound, m.NotFoundFile = lost.Users, lost.file
	m.Cost = q.facts(c.known()).cost(&counts)
	if err := out.publish(ctx, m, c.Overwrite); err != nil {
		return Result{}, err
	}
	spent, _ := table.SpentBy(c.Table)
	r = result(m, c.Out, spent.Since(before).Calls)
	r.lost = lost
	r.skipped(counts.Foreign)
	return r, nil
}

// result returns the Result of the extract that m describes.
func result(m *manifest.Extract, out string, calls int64) Result {
	return Result{Users: m.Users, Found: m.Found, NotFound: m.NotFound, Active: m.Active, Kept: m.Kept, Events: m.Events, Files: len(m.Parts), Out: out, Calls: calls}
}

func (r *Result) skipped(f layout.Foreign) { r.Foreign, r.foreign = f.Cells, f }

// answer writes the parts of some pieces that are not written yet, and returns the counts of the
// users in their ranges. All data is of the state with which the table was opened.
func answer(ctx context.Context, c *Config, q *question, out outlet, pieces []split.Region) (counts, error) {
	regions, err := table.UserRegions(ctx, q.table)
	if err != nil {
		return counts{}, err
	}
	var settled counts
	last := out.last()
	if err := q.foreign(last.Counts.Foreign); err != nil {
		return counts{}, err
	}
	q.after = last.Last
	k := &partCutter{q: q, number: out.count(), counts: last.Counts, search: q.search.region(split.Region{})}
	for _, r := range out.all() {
		if err := k.finds.restore(q.search, r.Found); err != nil {
			return counts{}, fmt.Errorf("%s: %w", doneName(r.Number), err)
		}
	}
	p := progress.Start(c.Progress)
	defer p.Done()
	p.Step("reading trails", "behaviours", 0)
	g, gctx := errgroup.WithContext(ctx)
	jobs := make(chan *part)
	g.Go(func() error {
		defer close(jobs)
		k.ctx, k.jobs, k.progress = gctx, jobs, p
		begin := func() (fetch.Work[*filtered], error) {
			r, err := newReader(q, c.Plan)
			if err != nil {
				return nil, err
			}
			r.at = p.Worker("reading")
			return r.read, nil
		}
		if err := fetch.Each(gctx, settle(gctx, q, stretches(pieces, regions), &settled), q.workers, begin, k.take); err != nil {
			return err
		}
		return k.finish(out.whole())
	})
	if staging, ok := out.(*staging); ok && q.output.Partition != "" {
		g.Go(func() error { return partitionParts(gctx, q, staging, jobs, p) })
	} else {
		for range out.writers(q.workers) {
			g.Go(func() error { return writeParts(gctx, q, out, jobs, p) })
		}
	}
	if err := g.Wait(); err != nil {
		return counts{}, err
	}
	if err := table.SameState(ctx, c.Table); err != nil {
		return counts{}, err
	}
	settled.add(&k.counts)
	return settled, nil
}

// writeParts writes the parts of jobs, one after the other.
func writeParts(ctx context.Context, q *question, out outlet, jobs <-chan *part, p *progress.Progress) error {
	w := newPartWriter(q)
	return eachPart(q, jobs, p, func(cut *part) error { return w.write(ctx, out, cut) })
}

// partitionParts distributes the parts of jobs to directories.
func partitionParts(ctx context.Context, q *question, out *staging, jobs <-chan *part, p *progress.Progress) (err error) {
	w, err := newPartitioner(ctx, q, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	return eachPart(q, jobs, p, func(cut *part) error { return w.take(ctx, cut) })
}

// eachPart passes the parts of jobs to take, and reports the progress.
func eachPart(q *question, jobs <-chan *part, p *progress.Progress, take func(*part) error) error {
	at := p.Worker("writing")
	defer at.End()
	at.At("waiting for a part")
	for cut := range jobs {
		at.At("%s: %d users, %d behaviours", q.output.partName(cut.number), len(cut.users), cut.events)
		if err := take(cut); err != nil {
			return err
		}
		at.At("waiting for a part")
	}
	return nil
}
