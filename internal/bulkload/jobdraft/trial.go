package jobdraft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/run/visible"
	"usertrail/internal/store/dfs"
)

// tryOut writes the draft, and reads the sample by it.
func tryOut(ctx context.Context, cfg Config, g *guessed) (*Draft, error) {
	w := g.body(cfg)
	d := &Draft{Summary: Summary{Files: len(g.found.files), Looked: len(g.samples), Unsure: append([]string{}, w.unsure...), FillIn: append([]string{}, w.fillIn...), Reasons: map[string]int{}}}
	for _, k := range g.kinds {
		d.Behaviours = append(d.Behaviours, k.name)
	}
	var whyBad []string
	j, err := job.Parse(cfg.Name, []byte(w.String()))
	if err == nil {
		for _, f := range g.found.files {
			if _, _, ok := j.Pattern.Match(nameFor(cfg, f.rel, g.found.single)); !ok {
				d.Passed++
			}
		}
		if whyBad, err = d.readSample(ctx, cfg, j, g); err != nil {
			return nil, err
		}
	}
	d.Text = d.head(cfg, g, whyBad) + w.String()
	if _, err := job.Parse(cfg.Name, []byte(d.Text)); err != nil {
		d.Problem = err
	}
	return d, nil
}

// nameFor returns the name of a file in the job.
func nameFor(cfg Config, rel string, single bool) string {
	base := baseOf(cfg, single)
	if dfs.Scheme(base) != "" {
		return dfs.Join(base, rel)
	}
	if !path.IsAbs(base) {
		base = dfs.Join(dfs.Dir(cfg.Name), base)
	}
	return path.Join(base, rel)
}

// errEnough ends the reading of a file when enough records are read.
var errEnough = errors.New("enough is read")

// readSample reads the sample's files with a job. It returns the first bad record of each
// reason.
func (d *Draft) readSample(ctx context.Context, cfg Config, j *job.Job, g *guessed) ([]string, error) {
	c := &counter{summary: &d.Summary, first: map[record.Reason]string{}}
	for _, s := range g.samples {
		date, kind, ok := j.Pattern.Match(nameFor(cfg, s.rel, g.found.single))
		if !ok {
			continue
		}
		c.left = cfg.Records
		err := readOne(ctx, cfg.FS, j, record.File{Path: s.name, Date: date, Kind: kind}, c)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, errEnough) {
			c.why = append(c.why, err.Error())
			d.Reasons["unread"]++
		}
	}
	for _, r := range record.Reasons {
		if first, ok := c.first[r]; ok {
			c.why = append(c.why, fmt.Sprintf("%d %s, the first: %s", d.Reasons[string(r)], r, first))
		}
	}
	return c.why, nil
}

func readOne(ctx context.Context, files dfs.FS, j *job.Job, file record.File, s record.Sink) error {
	f, err := files.Open(ctx, file.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := record.Open(f, file, &j.Format)
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := record.NewParser(&j.Format, file, r.Header())
	if err != nil {
		return err
	}
	for buf := make([]byte, 64<<10); ; {
		c, err := r.Next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.Parse(c, s); err != nil {
			return err
		}
	}
}

// A counter counts the good, skipped and bad records of a sample.
type counter struct {
	summary *Summary
	left    int // remaining records of this file
	first   map[record.Reason]string
	why     []string
}

func (c *counter) count() error {
	if c.left == 0 {
		return errEnough
	}
	c.left--
	c.summary.Read++
	return nil
}

// Keep implements record.Sink.
func (c *counter) Keep(*behaviour.Record) error {
	if err := c.count(); err != nil {
		return err
	}
	c.summary.Good++
	return nil
}

// Skip implements record.Sink.
func (c *counter) Skip() error {
	if err := c.count(); err != nil {
		return err
	}
	c.summary.Skipped++
	return nil
}

// Reject implements record.Sink.
func (c *counter) Reject(r *record.Reject) error {
	if err := c.count(); err != nil {
		return err
	}
	c.summary.Bad++
	c.summary.Reasons[string(r.Reason)]++
	if _, ok := c.first[r.Reason]; !ok {
		c.first[r.Reason] = fmt.Sprintf("%s:%d: %v", r.Path, r.Line, r.Err)
	}
	return nil
}

// head returns the comment above the draft.
func (d *Draft) head(cfg Config, g *guessed, whyBad []string) string {
	var b strings.Builder
	say := func(format string, args ...any) {
		for line := range strings.Lines(fmt.Sprintf(format, args...)) {
			b.WriteString("# " + visible.Text(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	say("Drafted by bulkload init from %s in %s; looked into: %d.", english.Plural(d.Files, "file", ""), cfg.Logs, d.Looked)
	switch {
	case len(d.FillIn) > 0:
		say("Not whole yet: fill in %s.", strings.Join(d.FillIn, ", "))
	case d.Bad == 0 && len(whyBad) == 0:
		say("%s of %s records of these were read with it.", humanize.Comma(d.Good+d.Skipped), humanize.Comma(d.Read))
	default:
		say("%s of %s records of these were read with it. The others:", humanize.Comma(d.Good+d.Skipped), humanize.Comma(d.Read))
		for _, why := range whyBad {
			say("  %s", why)
		}
		if job.DefaultMaxBad.Exceeded(d.Read, d.Bad) {
			say("A load refuses a file of which more than %s are bad, unless max_bad says more.", job.DefaultMaxBad)
		}
	}
	if d.Skipped > 0 {
		say("Of no behaviour below, and so skipped: %s of them.", humanize.Comma(d.Skipped))
	}
	if d.Passed > 0 {
		say("Not among the paths below: %s.", english.Plural(d.Passed, "file", ""))
	}
	if g.found.left > 0 {
		say("Not listed, because there are very many: %s folders and files.", humanize.Comma(int64(g.found.left)))
	}
	if len(g.found.strange) > 0 {
		say("No logs, by their names: %s.", g.found.others())
	}
	for _, n := range g.notes {
		say("%s.", n)
	}
	if len(d.Unsure) > 0 {
		say("What is a guess is marked unsure.")
	}
	return b.String()
}
