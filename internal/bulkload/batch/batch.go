// Package batch loads delivered files that are committed together.
//
//	read     digests, reads and parses the files with many workers; shuffle sorts the records;
//	         bad records go to quarantine
//	judge    refuses files with too many bad records, and finds copies of loaded files
//	write    writes the cells of each region as one HFile and its roll, reads both back whole
//	         and compares them with the records
//	put      instead of write: writes the roll, and reads the files once more to put their cells
//	commit   checks that the counts add up; the table accepts the whole batch at once
//
// A Load does all steps for one batch after the other. A piece of a plan does them without the commit.
//
// # Memory
//
// Shuffle sorts in Resources.SortMemory. Each worker also holds two chunks of a file, and the block and
// the index of the HFile that it writes. Puts without a response are held in Resources.PutMemory. All
// writers together hold records of rows in a sixteenth of Resources.Memory. The cells of a larger row are
// sorted in runs on disk, next to the runs of shuffle. If a job compares records by key fields, the
// records of one user are held in Resources.UserMemory. A user with more ends the load with an error.
package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// A Config describes the batches of a load.
type Config struct {
	bulkload.Resources
	Job   *job.Job
	To    *target.Table
	Known *ledger.Index
	// Failures gets the inputs that are not loaded.
	Failures *bulkload.Failures
	// Reserved is the part of the sort memory, in bytes, that the caller uses.
	Reserved int64
	// Unledgered means that corrected records may be in the table although no ledger lists them.
	Unledgered bool
	// SkipColumns, if not nil, gets which columns of logs.skip the records have.
	SkipColumns *record.SkipColumns
}

// A Batch is files that are loaded and committed together.
type Batch struct {
	cfg      *Config
	owner    Owner
	inputs   []*Input
	sorter   *shuffle.Sorter
	points   split.Points // of the regions
	progress *progress.Progress
	by       manifest.Selection // of the job
	dates    behaviour.Span     // of the records that were read
	spans    int                // of the days of files without a date in their path
}

// NewSorter returns the sorter of all batches of a load. New sets the number of parts of each batch.
func NewSorter(cfg *Config) (*shuffle.Sorter, error) {
	return shuffle.New(shuffle.Config{
		FS: cfg.FS, Dir: cfg.Temp, Memory: cfg.SortMemory() - cfg.Reserved, Shards: cfg.Workers, Readers: cfg.Writers(),
	})
}

// New returns a batch of inputs. The caller must call Abort at the end.
func New(ctx context.Context, cfg *Config, owner Owner, inputs []*Input, s *shuffle.Sorter, p *progress.Progress) (*Batch, error) {
	regions, err := cfg.To.Regions(ctx)
	if err != nil {
		return nil, err
	}
	b := &Batch{cfg: cfg, owner: owner, inputs: inputs, sorter: s, points: split.PointsOf(regions), progress: p, by: delivered.SelectionOf(cfg.Job), dates: behaviour.NoDays}
	if err := s.SetParts(b.part(len(regions))); err != nil { // the regions may have changed since the last batch
		return nil, err
	}
	for i, in := range inputs {
		in.index = i
		if err := b.mark(in); err != nil {
			in.Fail(err)
		}
	}
	return b, nil
}

// selection returns the selection of the job for an input.
func (b *Batch) selection(in *Input) manifest.Selection {
	return b.by.Of(in.Behaviour(b.cfg.Job.Schema))
}

// puts reports whether cells are put.
func (b *Batch) puts() bool { return b.cfg.To.Putter != nil }

// part returns the sorter's part for the records of a region.
func (b *Batch) part(region int) int {
	if b.puts() {
		return region + 1 // after rollPart
	}
	return region
}

// Done is the outcome of the good files of a batch. The table does not have them yet, except cells
// that were put.
type Done struct {
	Files   []manifest.File
	Days    []manifest.Day
	NoValue *manifest.NoValue
	Regions []manifest.Region
}

// Work reads the files, judges each, and writes or puts the good ones.
func (b *Batch) Work(ctx context.Context) (Done, error) {
	at := b.progress.Worker("load")
	defer at.End()
	at.At("reading %s", english.Plural(len(b.inputs), "file", ""))
	if err := b.read(ctx); err != nil {
		return Done{}, err
	}
	for _, in := range b.inputs {
		b.spans += in.listed.spans()
	}
	if err := b.fitsDays(0); err != nil {
		return Done{}, err
	}
	if err := b.judge(ctx); err != nil {
		return Done{}, err
	}
	at.At("sorting the records of %s", english.Plural(len(b.inputs), "file", ""))
	if err := b.sorter.Finish(ctx); err != nil {
		return Done{}, err
	}
	breakpoint.Reach(breakpoint.Batch)
	for _, in := range b.inputs {
		if !in.dropped() {
			in.counts.Loaded = 0 // writing counts them, so that the law compares two counts
		}
	}
	tallies := segment.NewTallies()
	var files []manifest.File
	var err error
	regions := len(b.points) + 1
	if b.puts() {
		at.At("putting cells into %s", english.Plural(regions, "region", ""))
		files, err = b.put(ctx, regions, tallies)
	} else {
		at.At("writing %s", english.Plural(regions, "region", ""))
		files, err = b.write(ctx, regions, tallies)
	}
	if err != nil {
		return Done{}, err
	}
	number := b.owner.Number()
	out := Done{Files: files, Days: tallies.Days(number, b.cfg.To.Schema), Regions: tallies.Regions(number, b.points)}
	if !b.corrects() {
		out.NoValue = tallies.NoValue(number, b.cfg.To.Schema, b.cfg.To.FieldsBy())
	}
	return out, nil
}

// corrects reports whether the batch has corrected records. They are too few to tell that a field has no value.
func (b *Batch) corrects() bool {
	return slices.ContainsFunc(b.inputs, func(in *Input) bool { return in.corrected != nil })
}

// judge decides which files are loaded, after all files have been read. It refuses a file that is cut
// short or has too many bad records. It skips a file if all of its records came with its copies. It
// also finds the records that came with a replay.
func (b *Batch) judge(ctx context.Context) error {
	for _, in := range b.inputs {
		if in.corrected == nil {
			if err := b.judgeOne(ctx, in); err != nil {
				return err
			}
		}
		if in.err != nil {
			b.cfg.Failures.Add(in.source(), in.err)
			continue
		}
		if in.corrected != nil {
			continue
		}
		in.replays = b.owner.Replayed(in)
		if !in.Whole() {
			continue
		}
		in.copies, in.sameAs = b.owner.Copies(in, in.self, b.selection(in))
		if in.sameAs != "" {
			in.counts.Duplicate, in.counts.Loaded = in.counts.Loaded, 0
		} else if err := in.checkCopies(); err != nil {
			in.Fail(err)
			b.cfg.Failures.Add(in.Path, err)
		}
	}
	return nil
}

// judgeOne sets the error of a file that is refused.
func (b *Batch) judgeOne(ctx context.Context, in *Input) error {
	c := &in.counts
	if in.err == nil && in.Only == nil {
		in.err = in.SameAgain(in.sha)
	}
	if in.err == nil && in.Whole() {
		in.err = delivered.TooBad(b.cfg.Job, in.Path, c.Read, c.Quarantined, in.bad.Reasons(), "; see "+b.cfg.Store.Quarantine(in.Rel)+b.copied(in))
	}
	if in.err == nil && in.Whole() {
		in.err = delivered.TooManyOthers(b.cfg.Job, in.Path, c, &in.others, delivered.NotLoaded)
	}
	if in.err == nil && in.Whole() {
		in.err = delivered.TooFew(b.cfg.Job, in.Path, in.Kind, c.Read)
	}
	if errors.Is(in.err, bulkload.ErrTooBad) {
		if err := in.bad.Commit(in.sha); err != nil {
			return err
		}
	}
	if in.err == nil {
		in.err = b.cfg.To.SameBad(b.cfg.Known.Begun(in.Rel), c.Quarantined)
	}
	if in.err == nil {
		return in.own(delivered.Unchanged(ctx, b.cfg.FS, &in.File))
	}
	return nil
}

// copied names a loaded file that has the bytes of in. Its records are bad under another date. copied returns "" if there is none.
func (b *Batch) copied(in *Input) string {
	for _, c := range b.cfg.Known.Copies(ledger.Content{SHA256: in.sha, Behaviour: in.Behaviour(b.cfg.Job.Schema)}) {
		if c.Path != in.Rel {
			return fmt.Sprintf("; it is a copy of %s, which was loaded: remove it, or have the log delivered again", c.Path)
		}
	}
	return ""
}

// own fails the input for an error that is the fault of its file alone. It returns other errors: they end
// the load.
func (in *Input) own(err error) error {
	if err == nil || !delivered.OwnFault(err) {
		return err
	}
	in.Fail(err)
	return nil
}

// Abort removes the scratch files of bad records. Committed files stay.
func (b *Batch) Abort() {
	for _, in := range b.inputs {
		if in.bad != nil {
			in.bad.Abort()
		}
	}
}
