package load

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/fit"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/precheck"
)

const (
	// headsAtOnce is the number of files whose beginnings are read at the same time: reading one is
	// mostly waiting.
	headsAtOnce = 16
	// unpacked is about how many times larger a compressed text is without compression.
	unpacked = 4
)

// A head describes the beginning of a file. If all errors are nil, the beginning is good. unread
// means that the file cannot be read. refused means that nothing of the file can be loaded. unfit means
// that nothing at all can be loaded, because the layout cannot hold a record.
type head struct {
	unread, refused, unfit error
	good                   int            // records that a load would keep
	skips                  manifest.Skips // records that a load would skip
}

// readable reads the beginning of every file. It sets the err of a file that cannot be read by
// its own fault: the load leaves it out.
func (p *preCheck) readable(ctx context.Context, files []*checked) {
	if len(files) == 0 {
		p.Skip(precheck.InputReadable, "there is no file to load")
		return
	}
	empty := 0
	heads := make([]head, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(headsAtOnce)
	for i, f := range files {
		if f.err != nil {
			continue
		}
		if f.Size == 0 {
			empty++
		}
		g.Go(func() error {
			heads[i] = p.head(ctx, f.Input)
			return nil
		})
	}
	_ = g.Wait() // none fails: heads has the errors
	var left, unread, refused, unfit []error
	for i, h := range heads {
		if delivered.OwnFault(h.unread) {
			files[i].err = h.unread
		} else if h.unread != nil {
			unread = append(unread, h.unread)
		}
		if files[i].err != nil {
			left = append(left, files[i].err)
		}
		if h.refused != nil {
			refused = append(refused, h.refused)
		}
		if h.unfit != nil {
			unfit = append(unfit, h.unfit)
		}
	}
	name := precheck.InputReadable
	switch {
	case len(unread) > 0:
		p.Fail(name, bulkload.Joined(unread), "")
	case len(unfit) > 0:
		p.Fail(name, bulkload.Joined(unfit), "")
	case len(refused) > 0 && p.alone:
		p.Fail(name, bulkload.Joined(append(left, refused...)), "the load would leave these files out")
	case len(left) > 0 && p.alone: // a load returns them as its errors
		p.Warn(name, "the load leaves these files out, loads the others and does not end with status 0", "%v", bulkload.Joined(left))
	default:
		p.kept(fmt.Sprintf("looked into %s; %d are empty", english.Plural(len(files)-empty, "file", ""), empty), files, heads)
	}
}

// kept warns of files if the job skips all of their records that were read. A load would skip such a
// file with status 0, and not read it again. looked describes all files.
func (p *preCheck) kept(looked string, files []*checked, heads []head) {
	var all []string
	good := 0
	var skips manifest.Skips
	for i, h := range heads {
		if h.good == 0 && h.skips.Sum() > 0 {
			all = append(all, files[i].Path)
		}
		good += h.good
		skips.Add(h.skips)
	}
	if n := skips.Sum(); n > 0 {
		looked += fmt.Sprintf("; a load would skip %s of %s records: %s", humanize.Comma(n), humanize.Comma(int64(good)+n), skips)
	}
	if len(all) == 0 {
		p.OK(precheck.InputReadable, "%s", looked)
		return
	}
	if n := len(all) - bulkload.Shown; n > 0 {
		all = append(all[:bulkload.Shown], fmt.Sprintf("and %d more", n))
	}
	p.Warn(precheck.InputReadable, "a file that was loaded is not read again: if its records are wanted, correct behaviour, skip or user in the job before the first load",
		"%s; among them are all records that were read of %s", looked, strings.Join(all, ", "))
}

// head opens a file and reads as far as the header. If no load follows, it also samples the records.
func (p *preCheck) head(ctx context.Context, in job.Input) head {
	j := p.load.cfg.Job
	f, err := dfs.OpenRegular(ctx, p.load.cfg.FS, in.Path)
	if err != nil {
		return head{unread: delivered.Unread(in.Path, err)}
	}
	defer f.Close()
	if in.Size == 0 && !record.IsCompressed(in.Path) {
		return head{refused: delivered.TooFew(j, in.Path, in.Kind, 0)}
	}
	src := &delivered.Source{R: f}
	r, err := record.Open(src, in.File(), &j.Format)
	var parser *record.Parser
	if err == nil {
		defer r.Close()
		parser, err = record.NewParser(&j.Format, in.File(), r.Header())
	}
	s := fit.NewSample(j, p.load.layout)
	if err == nil && p.alone {
		err = s.Take(in, src, r, parser)
	}
	if src.Err != nil {
		return head{unread: delivered.Unread(in.Path, src.Err)}
	}
	return head{refused: delivered.Unfit(err), unfit: s.Unfit, good: s.Good, skips: s.Skips}
}

// textBytes returns about how many bytes of text a file has.
func textBytes(f *delivered.File) int64 {
	for _, end := range []string{".gz", ".zst", ".bz2"} {
		if strings.HasSuffix(f.Path, end) {
			return unpacked * f.Size
		}
	}
	return f.Size
}
