package load

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/precheck"
)

const (
	// headsAtOnce is the number of files whose beginnings are read at the same time. Most of the time of a
	// read is waiting.
	headsAtOnce = 16
	// unpacked is the approximate ratio of the size of a text to its compressed size.
	unpacked = 4
)

// A head describes the beginning of a file. If all errors are nil, the beginning is good. unread
// means that the file cannot be read. refused means that nothing of the file can be loaded.
type head struct{ unread, refused error }

// noFile returns the reason why a load would read no file.
func (p *preCheck) noFile() string {
	switch n := len(p.found); {
	case n == 0 || slices.ContainsFunc(p.found, func(f *checked) bool { return !f.held }):
		return "there is no file to load"
	case n == 1:
		return "the file was loaded before"
	default:
		return fmt.Sprintf("all %d files were loaded before", n)
	}
}

// readable reads the beginning of every file. If the cause of an error is the file itself, readable sets the err of the
// file, and the load leaves the file out.
func (p *preCheck) readable(ctx context.Context, files []*checked) {
	if len(files) == 0 {
		p.Skip(precheck.InputReadable, "%s", p.noFile())
		return
	}
	if err := p.load.fits(len(files), func(i int) string { return files[i].Path }); err != nil {
		p.Fail(precheck.InputReadable, err, "")
		return
	}
	empty := 0
	heads := make([]head, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(p.load.atOnce(files))
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
	var left, unread, refused []error
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
			files[i].refused = true
		}
	}
	name := precheck.InputReadable
	switch {
	case len(unread) > 0:
		p.Fail(name, bulkload.Joined(unread), "")
	case p.alone && (len(refused) > 0 || slices.ContainsFunc(files, func(f *checked) bool { return f.Lost && f.err != nil })):
		p.Fail(name, bulkload.Joined(append(left, refused...)), "the load would leave these files out")
	case len(left) > 0 && p.alone: // a load returns them as its errors
		err := bulkload.Joined(left)
		p.Warn(name, fmt.Sprintf("the load leaves these files out, loads the others and ends with status %d", exit.Of(err)), "%v", err)
	default:
		p.OK(name, "looked into %s; %d are empty", english.Plural(len(files)-empty, "file", ""), empty)
	}
}

// atOnce returns the number of files whose beginnings fit into half of the memory.
func (l *Load) atOnce(files []*checked) int {
	most := int64(1)
	for _, f := range files {
		most = max(most, l.cfg.Job.Format.Memory(f.Path))
	}
	return int(min(max(l.cfg.Memory/2/most, 1), headsAtOnce))
}

// head opens a file and reads as far as the header.
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
	src := &dfs.Source{R: f}
	r, err := record.Open(src, in.File(), &j.Format)
	if err == nil {
		defer r.Close()
		_, err = record.NewParser(&j.Format, in.File(), r.Header())
	}
	if src.Err != nil {
		return head{unread: delivered.Unread(in.Path, src.Err)}
	}
	return head{refused: delivered.Unfit(err)}
}

// textBytes returns the approximate number of bytes of text in a file.
func textBytes(f *delivered.File) int64 {
	for _, end := range []string{".gz", ".zst", ".bz2"} {
		if strings.HasSuffix(f.Path, end) {
			return unpacked * f.Size
		}
	}
	return f.Size
}
