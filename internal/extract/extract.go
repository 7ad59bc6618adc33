// Package extract takes the trails of active users out of a table, as one
// function:
//
//	settle    where rolls say who is active, they settle it; users are cut into
//	          lots
//	fetch     many lots are read at once, and come back in order
//	sift      each user is judged by the behaviours in its trail, and what does
//	          not come out is taken away
//	cut       their trails are cut into parts of about partEvents behaviours or
//	          partBytes of values, a user whole in one part
//	write     many parts are sorted by user ID and written at once, as Output says;
//	          a partitioner sorts those that go into directories
//	publish   the directory appears by one rename
//
// # Same question, same bytes
//
// Parts are cut by the trails alone, in order of the users' keys. Neither the
// number of workers nor the memory nor the table's regions change a byte.
//
// # Pieces
//
// Many machines answer one question by pieces: ranges of user keys that cover all of
// them once. Plan cuts them and says what each is, RunPiece does one, and Commit makes
// an answer of them. With Config.PieceSize Run cuts the same pieces, and a part ends
// where its piece does, so the answer is the same to the byte; regions then say where
// pieces end.
//
// # Killed at any moment
//
// Until it is whole the answer lies in a hidden directory beside OUT, each
// finished part with a record of what is in it. The same command goes on after
// the last part that is finished with all before it; another question, or a
// table that has changed, begins anew.
//
// # Memory
//
// 2 × Workers lots of about 16,000 records and at most lotBytes are in flight, and
// Workers + 1 parts of about partEvents or partBytes. That is workerMemory for each
// worker, so Config.Memory bounds how many there are; with little memory lots are smaller.
// A user with more than a lot is held whole, one such user at a time, up to about a quarter
// of the memory. The bytes are counted before they are held, and a user with more ends the
// extract by an error. The list of users is held to the end; what it takes is not there for
// workers. An answer in directories is sorted in sortMemory more. Where rows alone tell who
// is there, and the rows of a user lie apart, the rows are read once for as many users as fit
// into half of the rest.
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
	"usertrail/internal/dfs"
	"usertrail/internal/fetch"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/progress"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/trail"
	"usertrail/internal/userlist"
)

// partEvents is about how many behaviours a part holds, and partBytes about how many
// bytes of values, if these come first. Tests have fewer, so that a small answer has
// several parts.
var (
	partEvents = 128 << 10
	partBytes  = 16 << 20
)

const (
	// MinMemory is the least Config.Memory, in bytes, that a process keeps to.
	MinMemory = 128 << 20
	// workerMemory was measured on parts of ten columns: the resident set with
	// two workers less that with one.
	workerMemory = 64 << 20
	// restMemory is the resident set with one worker, reading from HBase by scans,
	// less workerMemory and the list.
	restMemory = 40 << 20
	// minWalk is the least Config.walkBytes.
	minWalk = 8 << 20
	// fullMemory is what one worker takes besides the trail of a user who is held whole.
	fullMemory = 96 << 20
)

// Config is one extract. Zero fields take the defaults written beside them.
type Config struct {
	FS     dfs.FS
	Table  table.Table
	Users  *userlist.List
	Span   behaviour.Span
	Types  []string
	Active string // all, any or min:N; all
	Conditions
	Output
	Known     *manifest.Table // what loads brought; what Table tells
	Plan      fetch.Plan
	Out       string
	Overwrite bool
	Strict    bool     // foreign cells are an error
	Homes     []string // the table's directory or catalog: Out must be apart from them
	Lists     []string // files that Users was read from: an Out that is replaced must not hold them
	PieceSize int64    // about how many behaviours of users who may be active; 0 is one piece

	Workers  int           // lots read, and parts written, at once; 1
	Memory   int64         // bytes of the process; 1 GiB
	Patience time.Duration // how long a load that is in the table in part is waited for; not at all
	Progress progress.Config
}

// A Result is what an extract did.
type Result struct {
	Users int64 `json:"users"` // asked; of all, those found
	Found int64 `json:"found"` // with at least one of the asked behaviours in the span
	// NotFound are the others on a list of users.
	NotFound int64  `json:"not_found,omitempty"`
	Active   int64  `json:"active"` // who did as --active and --without ask
	Kept     int64  `json:"kept"`   // whose trails came out
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

func (c *Config) memory() int64 { return cmp.Or(c.Memory, 1<<30) }

// room is what there is for workers, in bytes.
func (c *Config) room() int64 {
	room := c.memory() - restMemory - c.Users.Bytes()
	if c.Output.Partition != "" {
		room -= c.sortMemory()
	}
	return room
}

// workers is how many there may be at once. The list has to leave room for one.
func (c *Config) workers() (int, error) {
	room := c.room()
	if room < workerMemory {
		return 0, fmt.Errorf("%w: %d users do not fit in memory beside their trails: raise --memory to %s",
			userlist.ErrList, c.Users.Len(), mebibytes(restMemory+workerMemory+sortMemory+c.Users.Bytes()))
	}
	room -= int64(c.userBytes())
	return max(1, min(c.Workers, int(room/workerMemory))), nil
}

// walkBytes is how many bytes of users whose rows lie apart may be held while rows alone tell
// who is there: half of what the workers leave.
func (c *Config) walkBytes(workers int) int64 {
	return max(minWalk, (c.room()-int64(workers)*workerMemory)/2)
}

// lotBytes is how many bytes the trails of a lot may take, of which some are in flight for
// each worker.
func (c *Config) lotBytes(workers int) int {
	room := c.memory() - restMemory - c.Users.Bytes()
	return min(lotBytes, int(room)/(32*workers))
}

// sortMemory is how many bytes leaves are sorted in.
func (c *Config) sortMemory() int64 { return min(sortMemory, c.memory()/32) }

// userBytes is how many bytes the trail of one user may take, which is held whole: with
// what else is held while it is read and written it stays within memory. It is the inverse
// of memoryFor.
func (c *Config) userBytes() int {
	m := c.memory() - c.Users.Bytes()
	return int(min((m-restMemory)/4, (m-fullMemory)/2, trail.MaxData))
}

// memoryFor is the least Config.Memory for a trail of so many bytes.
func memoryFor(trail int, list int64) int64 {
	return list + max(4*int64(trail)+restMemory, 2*int64(trail)+fullMemory, MinMemory)
}

// Run answers a question. The directory Out is there, whole, when it returns
// without an error, and unchanged when it returns one. An error that wraps
// fs.ErrExist says that Out is there already. One that wraps table.ErrChanged says that a load
// has changed the table meanwhile: opened again, the table can be asked again.
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

// result is what became of the question that m answers.
func result(m *manifest.Extract, out string, calls int64) Result {
	return Result{Users: m.Users, Found: m.Found, NotFound: m.NotFound, Active: m.Active, Kept: m.Kept, Events: m.Events, Files: len(m.Parts), Out: out, Calls: calls}
}

func (r *Result) skipped(f layout.Foreign) { r.Foreign, r.foreign = f.Cells, f }

// answer writes all parts of some pieces that are not written yet, and says what
// became of the users in their ranges. All is of the state with which the table was opened.
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
	k := &knife{q: q, number: out.count(), counts: last.Counts, search: q.search.region(split.Region{})}
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
		begin := func() (fetch.Work[*sifted], error) {
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

// writeParts writes parts that come, one after the other.
func writeParts(ctx context.Context, q *question, out outlet, jobs <-chan *part, p *progress.Progress) error {
	w := newPartWriter(q)
	return eachPart(q, jobs, p, func(cut *part) error { return w.write(ctx, out, cut) })
}

// partitionParts lays parts that come into directories.
func partitionParts(ctx context.Context, q *question, out *staging, jobs <-chan *part, p *progress.Progress) (err error) {
	w, err := newPartitioner(ctx, q, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	return eachPart(q, jobs, p, func(cut *part) error { return w.take(ctx, cut) })
}

// eachPart gives the parts that come to take, and says so.
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
