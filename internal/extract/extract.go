// Package extract takes the trails of active users out of a table, as one
// function:
//
//	settle    where rolls say who is active, they settle it; users are cut into
//	          pieces
//	fetch     many pieces are read at once, and come back in order
//	cut       their trails are cut into parts of about PartEvents behaviours, a
//	          user whole in one part
//	write     many parts are sorted by user ID and written at once, as Parquet
//	publish   the directory appears by one rename
//
// # Same question, same bytes
//
// Parts are cut by the trails alone, in order of the users' keys. Neither the
// number of workers nor the memory nor the table's regions change a byte.
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
// 2 × Workers pieces of about 16,000 records are in flight, and Workers + 1 parts
// of about PartEvents; a user with more behaviours than that is held whole. That
// is workerMemory for each worker, so Config.Memory bounds how many there are. The
// list of users is held to the end; what it takes is not there for workers.
package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/dfs"
	"usertrail/internal/fetch"
	"usertrail/internal/manifest"
	"usertrail/internal/progress"
	"usertrail/internal/table"
)

// ErrQuestion is wrapped by errors that another try of the same command cannot
// mend: an unknown behaviour, a wrong rule.
var ErrQuestion = errors.New("wrong question")

// PartEvents is about how many behaviours a part holds.
const PartEvents = 128 << 10

const (
	// MinMemory is the least Config.Memory, in bytes, that a process keeps to.
	MinMemory = 128 << 20
	// workerMemory was measured on parts of ten columns: the resident set with
	// two workers less that with one.
	workerMemory = 64 << 20
	// restMemory is the resident set with one worker, reading from HBase by scans,
	// less workerMemory and the list.
	restMemory = 40 << 20
)

// Config is one extract. Zero fields take the defaults written beside them.
type Config struct {
	FS        dfs.FS
	Table     table.Table
	Users     *Users
	Span      behaviour.Span
	Types     []string
	Active    string // all, any or min:N; all
	Plan      fetch.Plan
	Out       string
	Overwrite bool

	Workers  int   // pieces read, and parts written, at once; 1
	Memory   int64 // bytes of the process; 1 GiB
	Progress progress.Config
}

// A Result is what an extract did.
type Result struct {
	Users  int64  `json:"users"`  // asked; of all, those found
	Found  int64  `json:"found"`  // with at least one of the asked behaviours in the span
	Active int64  `json:"active"` // whose trails came out
	Events int64  `json:"events"`
	Files  int    `json:"files"`
	Out    string `json:"out"`
}

// question is a Config that has been checked against its table.
type question struct {
	table   table.Table
	info    table.Info
	users   *Users
	span    behaviour.Span
	kinds   []int // in order of behaviour ID
	rule    activity.Rule
	active  string
	workers int
	after   []byte // key of the last user that an earlier run finished
	size    sizes
}

func newQuestion(c *Config) (*question, error) {
	workers, err := c.workers()
	if err != nil {
		return nil, err
	}
	q := &question{table: c.Table, info: c.Table.Info(), users: c.Users, span: c.Span, active: c.Active, workers: workers}
	if q.active == "" {
		q.active = "all"
	}
	if c.Span.From > c.Span.To {
		return nil, fmt.Errorf("%w: --from %s comes after --to %s", ErrQuestion, c.Span.From, c.Span.To)
	}
	if len(c.Types) == 0 {
		return nil, fmt.Errorf("%w: --types names no behaviour; the table has %s", ErrQuestion, strings.Join(q.info.Schema.Names(), ", "))
	}
	for _, name := range c.Types {
		k, ok := q.info.Schema.Kind(name)
		if !ok {
			return nil, fmt.Errorf("%w: --types: the table has no behaviour %q; it has %s", ErrQuestion, name, strings.Join(q.info.Schema.Names(), ", "))
		}
		if !slices.Contains(q.kinds, k) {
			q.kinds = append(q.kinds, k)
		}
	}
	slices.Sort(q.kinds)
	rule, err := activity.Parse(q.active, activity.Of(q.kinds...))
	if err != nil {
		return nil, fmt.Errorf("%w: --active %w", ErrQuestion, err)
	}
	q.rule = rule
	return q, nil
}

// workers is how many there may be at once. The list has to leave room for one.
func (c *Config) workers() (int, error) {
	room := cmp.Or(c.Memory, 1<<30) - restMemory - c.Users.bytes()
	if room < workerMemory {
		return 0, fmt.Errorf("%w: %d users do not fit in memory beside their trails: raise --memory", ErrUsers, c.Users.len())
	}
	return max(1, min(c.Workers, int(room/workerMemory))), nil
}

// names are the asked behaviours, in order of behaviour ID.
func (q *question) names() []string {
	var names []string
	for _, k := range q.kinds {
		names = append(names, q.info.Schema.Kinds[k].Name)
	}
	return names
}

// Run answers a question. The directory Out is there, whole, when it returns
// without an error, and unchanged when it returns one. An error that wraps
// fs.ErrExist says that Out is there already.
func Run(ctx context.Context, c Config) (Result, error) {
	q, err := newQuestion(&c)
	if err != nil {
		return Result{}, err
	}
	if err := checkOut(ctx, &c); err != nil {
		return Result{}, err
	}
	out, err := openStaging(ctx, &c, q)
	if err != nil {
		return Result{}, err
	}
	defer out.close()
	last := out.last()
	q.after = last.Last
	m, err := answer(ctx, &c, q, out, last.Found)
	if err != nil {
		return Result{}, err
	}
	if err := out.publish(ctx, m, c.Overwrite); err != nil {
		return Result{}, err
	}
	return Result{m.Users, m.Found, m.Active, m.Events, len(m.Parts), c.Out}, nil
}

func checkOut(ctx context.Context, c *Config) error {
	_, err := c.FS.Stat(ctx, c.Out)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for --out: %w", err)
	case c.Overwrite:
		return nil
	}
	return fmt.Errorf("--out %s: %w; choose another, or say --overwrite", c.Out, iofs.ErrExist)
}

// answer writes all parts that are not written yet, and says what the whole is. In
// the parts that are, an earlier run found some users by their rows.
func answer(ctx context.Context, c *Config, q *question, out *staging, before int64) (*manifest.Extract, error) {
	regions, err := q.table.Regions(ctx)
	if err != nil {
		return nil, err
	}
	var settled int64
	k := &knife{q: q, number: len(out.parts), found: before}
	p := progress.Start(c.Progress)
	defer p.Done()
	p.Step("reading trails", "behaviours", 0)
	g, gctx := errgroup.WithContext(ctx)
	jobs := make(chan *part)
	g.Go(func() error {
		defer close(jobs)
		k.ctx, k.jobs, k.progress = gctx, jobs, p
		cfg := fetch.Config{Schema: q.info.Schema, Layout: q.info.Layout, Kinds: q.kinds, Span: q.span, Plan: c.Plan, Workers: q.workers}
		if err := fetch.Each(gctx, q.table, settle(gctx, q, regions, &settled), cfg, k.take); err != nil {
			return err
		}
		return k.finish()
	})
	for range q.workers {
		g.Go(func() error {
			w := newPartWriter(q)
			for job := range jobs {
				if err := w.write(gctx, out, job); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out.manifest(q, settled+k.found, c.Table.Info().Address), nil
}

// sum counts what passes through it.
type sum struct {
	io.Writer
	bytes int64
}

func (s *sum) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	s.bytes += int64(n)
	return n, err
}
