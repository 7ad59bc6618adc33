package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/peek"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/bulkload/tryout"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/table/precheck"
)

const (
	// DefaultSample is the number of bytes of text that PreCheck and DryRun parse.
	DefaultSample = 64 << 20
	// leastSample is the smallest number of bytes that are parsed of each file.
	leastSample = 24 << 10
	// mostUnpacked is how many times larger than its file a compressed text may be. It serves to
	// divide the sample among files.
	mostUnpacked = 16
	// mostConverted is the number of bytes of UTF-8 that one byte of another encoding may become.
	mostConverted = 3
)

// try parses a sample of each file. It returns nil if Config.Sample is negative, or if there is no file. The days before
// dropped, which may be nil, were dropped from the table.
func (l *Load) try(ctx context.Context, files []job.Input, dropped *behaviour.Date) (*tryout.Report, error) {
	bytes := cmp.Or(l.cfg.Sample, DefaultSample)
	if bytes < 0 || len(files) == 0 {
		return nil, nil
	}
	sizes := make([]int64, len(files))
	for i, f := range files {
		if sizes[i] = f.Size; record.IsCompressed(f.Path) {
			sizes[i] *= mostUnpacked
		}
		if l.cfg.Job.Format.Converts() {
			sizes[i] *= mostConverted
		}
	}
	list := make([]tryout.File, len(files))
	for i, share := range tryout.Shares(sizes, bytes, leastSample) {
		list[i] = tryout.File{File: files[i].File(), Part: l.Search.Part(files[i]), Limit: peek.Limit{Bytes: share}}
	}
	by, schema := l.layout, l.cfg.Job.Schema
	if l.To != nil {
		by = l.To.Layout
	}
	fits := func(r *behaviour.Record) error { return by.Fits(schema, r) }
	return tryout.Run(ctx, tryout.Config{FS: l.cfg.FS, Job: l.cfg.Job, Fits: fits, Dropped: dropped, Memory: l.cfg.Memory / 2}, list)
}

// sample parses a sample of the files that a load would read.
func (p *preCheck) sample(ctx context.Context, files []*checked) {
	var inputs []job.Input
	for _, f := range files {
		if f.err == nil && !f.refused {
			inputs = append(inputs, f.Input)
		}
	}
	r, err := p.load.try(ctx, inputs, p.dropped)
	switch {
	case err != nil:
		p.Fail(precheck.RecordsParse, err, "")
	case len(files) == 0 && p.allOlder():
		p.Fail(precheck.RecordsParse, p.allDropped(0), "")
	case len(files) == 0:
		p.Skip(precheck.RecordsParse, "%s", p.noFile())
	case len(inputs) == 0:
		p.Skip(precheck.RecordsParse, "no file is left to load")
	case r == nil:
		p.Skip(precheck.RecordsParse, "no sample is asked for")
	default:
		p.Sample = r
		p.judge(r)
	}
}

// judge adds the check of a sample.
func (p *preCheck) judge(r *tryout.Report) {
	var unread, unfit []error
	var refused []*tryout.FileResult
	var uncertain, unwanted []string
	for i := range r.Results {
		f := &r.Results[i]
		switch {
		case f.Unread != nil:
			unread = append(unread, delivered.Unread(f.Path, delivered.Unfit(f.Unread)))
		case f.Unfit != nil:
			unfit = append(unfit, f.Unfit)
		case f.Refused != nil:
			refused = append(refused, f)
		case f.Verdict == tryout.Uncertain:
			uncertain = append(uncertain, f.Path)
		case f.Good == 0 && f.Skipped > f.NotAsked+f.Dropped:
			unwanted = append(unwanted, f.Path)
		}
	}
	name, found := precheck.RecordsParse, sampled(r)
	asked, dates, dropped := p.load.cfg.Span, datesOf(r), droppedOf(r)
	noValue, absent := withoutValue(r), bulkload.AbsentOfSkip(p.load.cfg.Job, &r.SkipColumns)
	switch none := p.noBehaviour(r); {
	case len(unread) > 0:
		errs := slices.Concat(unread, unfit)
		if len(refused) > 0 {
			errs = append(errs, grouped(refused))
		}
		p.Fail(name, bulkload.Joined(errs), "the load would leave these files out")
	case len(unfit) > 0:
		p.Fail(name, bulkload.Joined(unfit), "")
	case none != nil:
		p.Fail(name, none, "")
	case len(refused) > 0:
		p.Fail(name, grouped(refused), "the load would leave these files out")
	case dropped > 0 && dropped+r.Bad == r.Records && r.Whole == r.Files:
		p.Fail(name, p.allDropped(r.Files), "")
	case len(uncertain) > 0:
		p.Warn(name, "a load may refuse these files: read more of them with --sample, or correct the job",
			"%s; more of these samples are bad than max_bad allows, %s, or name no behaviour than max_skipped, %s: %s", found, p.load.cfg.Job.MaxBad, p.load.cfg.Job.MaxSkipped, bulkload.Few(uncertain))
	case dates != behaviour.NoDays && r.Good == 0 && !asked.Overlaps(dates):
		p.Warn(name, bulkload.OutsideAdvice, "%s; no record of the sample is of --from to --to, %s: they are of %s", found, asked, dates)
	case dropped > 0:
		p.Warn(name, "correct --from and --to, or restore the days with bulkload undrop before the load",
			"%s; the load would skip %s of days before %s, which were dropped from the table", found, english.Plural(int(dropped), "record", ""), p.dropped)
	case len(unwanted) > 0:
		p.Warn(name, "if the records are wanted, correct behaviour, skip or user in the job before the first load: a file that was loaded is read again only for more texts and behaviours",
			"%s; a load would skip all records of the sample of %s", found, bulkload.Few(unwanted))
	case len(absent) > 0:
		p.Warn(name, bulkload.AbsentAdvice, "%s; %s: %s", found, bulkload.AbsentText, bulkload.Few(absent))
	case len(noValue) > 0:
		p.Warn(name, "if the logs have values of these fields, correct their columns in the job", "%s; no good record of the sample has a value of %s", found, bulkload.Few(noValue))
	default:
		p.OK(name, "%s", found)
	}
}

// withoutValue names the fields of which no good record of a sample has a value, of behaviours with enough records for a warning.
func withoutValue(r *tryout.Report) (out []string) {
	for i := range r.Behaviours {
		b := &r.Behaviours[i]
		if b.Good < bulkload.ToWarn {
			continue
		}
		for _, field := range b.NoValue {
			out = append(out, fmt.Sprintf("%s (%s)", field, b.Name))
		}
	}
	return out
}

// datesOf returns the dates of the good records of a sample.
func datesOf(r *tryout.Report) behaviour.Span {
	all := behaviour.NoDays
	for i := range r.Results {
		all.Add(r.Results[i].Dates)
	}
	return all
}

// grouped returns the error of the files that a load would refuse. If several files have the same cause, the error
// names only the first of them and their number.
func grouped(refused []*tryout.FileResult) error {
	var out []error
	for i, f := range refused {
		same := f.SameCause
		if slices.IndexFunc(refused, same) < i {
			continue
		}
		err := f.Refused
		if n := len(refused) - len(slices.DeleteFunc(slices.Clone(refused), same)); n > 1 {
			err = fmt.Errorf("%d files, the first is %w", n, err)
		}
		out = append(out, err)
	}
	if len(out) > 1 {
		return fmt.Errorf("%d files would be refused: %w", len(refused), bulkload.Joined(out))
	}
	return out[0]
}

// sampled describes a sample in a line.
func sampled(r *tryout.Report) string {
	return fmt.Sprintf("%s of %s, %d of them whole: %s good, %s bad, %s skipped",
		english.Plural(int(r.Records), "record", ""), english.Plural(r.Files, "file", ""), r.Whole, humanize.Comma(r.Good), humanize.Comma(r.Bad), humanize.Comma(r.Skipped))
}

// droppedOf returns the number of records of dropped days in a sample.
func droppedOf(r *tryout.Report) (n int64) {
	for i := range r.Results {
		n += r.Results[i].Dropped
	}
	return n
}

// allOlder reports whether all good records of the found files, which are loaded, are of dropped days.
func (p *preCheck) allOlder() bool {
	return len(p.found) > 0 && !slices.ContainsFunc(p.found, func(f *checked) bool { return !f.older })
}

// allDropped returns the error of a load if all good records are of dropped days. files is the number of new files.
func (p *preCheck) allDropped(files int) error {
	return &target.SkippedAllError{Files: files, Span: p.load.cfg.Span, Dropped: *p.dropped, Address: p.load.cfg.Store.Address()}
}

// errNoBehaviour is wrapped if no text of the sample names a behaviour of the job.
var errNoBehaviour = errors.New("no record of the sample is of a behaviour of the job")

// noBehaviour returns an error if no record of the sample has a behaviour of the job, and at least half
// of the records name other behaviours. It returns nil if the job skips other behaviours: a day may have no other records.
func (p *preCheck) noBehaviour(r *tryout.Report) error {
	if p.load.cfg.Job.SkipOthers {
		return nil
	}
	var unknown, known int64
	for i := range r.Results {
		unknown += r.Results[i].Unknown
		known += r.Results[i].Good + r.Results[i].NotAsked + r.Results[i].BadOfKind
	}
	if known > 0 || unknown == 0 || 2*unknown < r.Records {
		return nil
	}
	var texts []string
	for _, t := range r.Unknown {
		texts = append(texts, fmt.Sprintf("%q (%s)", t.Text, english.Plural(int(t.Count), "record", "")))
	}
	return fmt.Errorf("%w: %w: their behaviours are %s: correct the texts of the behaviours, or the column of behaviour", job.ErrJob, errNoBehaviour, strings.Join(texts, ", "))
}
