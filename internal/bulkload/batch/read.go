package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/pipe"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
)

// chunkBytes is the size of a chunk. A file is parsed in chunks.
const chunkBytes = 1 << 20

// A task is a chunk of a file.
type task struct {
	in     *Input
	number int // of the chunk in the file
	chunk  record.Chunk
	header []string
	buffer []byte
	again  []record.Chunk // of a corrected record: other texts of it
	lines  []int64        // of a corrected record: the line of each text in the quarantine file
}

// A reader reads files and hands their chunks to workers.
type reader struct {
	fs       dfs.FS
	format   *record.Format
	workers  int
	progress *progress.Progress
	buffers  chan []byte         // of chunks, not in use
	unpacked *semaphore.Weighted // bytes of Format.Window, for the files that are being decompressed
}

func newReader(cfg *Config, p *progress.Progress) *reader {
	format := &cfg.Within(cfg.Job).Format
	return &reader{
		fs: cfg.FS, format: format, workers: cfg.Workers, progress: p, buffers: make(chan []byte, 4*cfg.Workers), unpacked: semaphore.NewWeighted(format.Window),
	}
}

// EachChunk reads delivered files and passes their chunks to cfg.Workers workers. worker returns the function of worker i for
// one chunk of a file, whose columns have the names in header. doing names the work in the progress report. A problem
// of one file is recorded with the file. When EachChunk returns, each other file has its digest.
func EachChunk(ctx context.Context, cfg *Config, inputs []*Input, p *progress.Progress, doing string, worker func(i int) func(in *Input, header []string, c record.Chunk) error) error {
	return newReader(cfg, p).feed(ctx, inputs, doing, func(_ context.Context, i int) func(task) error {
		work := worker(i)
		return func(t task) error { return work(t.in, t.header, t.chunk) }
	})
}

// feed reads inputs and passes their chunks to the workers. worker returns the function of worker i for
// one chunk. doing names the work in the progress report. A problem of one file is recorded with the file.
// An error ends the load.
func (r *reader) feed(ctx context.Context, inputs []*Input, doing string, worker func(ctx context.Context, i int) func(task) error) error {
	g, ctx := errgroup.WithContext(ctx)
	files := make(chan *Input)
	tasks := make(chan task, r.workers)
	g.Go(func() error {
		defer close(files)
		for _, in := range inputs {
			if err := pipe.Send(ctx, files, in); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		defer close(tasks)
		g, ctx := errgroup.WithContext(ctx)
		for range r.workers {
			g.Go(func() error {
				for in := range files {
					if err := r.read(ctx, in, tasks); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return g.Wait()
	})
	for i := range r.workers {
		g.Go(func() error {
			work := worker(ctx, i)
			at := r.progress.Worker(doing)
			defer at.End()
			for t := range tasks {
				at.At("%s, from line %d, byte %d on", t.in.Path, t.chunk.Line, t.chunk.Offset)
				if err := work(t); err != nil {
					return err
				}
				r.recycle(t.buffer)
				at.At("waiting for the next lines")
			}
			return nil
		})
	}
	return g.Wait()
}

// read reads one input.
func (r *reader) read(ctx context.Context, in *Input, tasks chan<- task) error {
	switch {
	case in.corrected != nil:
		return r.readCorrected(ctx, in, tasks)
	case in.Cuts != nil:
		return r.digestRanges(ctx, in)
	case in.Only != nil:
		if err := in.own(delivered.Unchanged(ctx, r.fs, &in.File)); err != nil || in.Failed() {
			return err
		}
	}
	return r.readFile(ctx, in, tasks)
}

// readFile digests one file, or a range of it, and hands its chunks out.
func (r *reader) readFile(ctx context.Context, in *Input, tasks chan<- task) error {
	at := r.progress.Worker("reading")
	defer at.End()
	at.At("%s, of %d bytes", in.Path, in.Bytes())
	f, err := dfs.OpenRegular(ctx, r.fs, in.Path)
	if err != nil {
		return in.own(delivered.Unread(in.Path, err))
	}
	defer f.Close()
	memory := unpacking{ctx: ctx, reader: r}
	if err := memory.grow(record.Unpacking(f, in.Path)); err != nil {
		return err
	}
	defer memory.release()
	h := sha256.New()
	src := &dfs.Source{R: in.Reader(f)}
	raw := &counted{r: io.TeeReader(src, h), progress: r.progress}
	records, err := r.open(f, raw, src, in, memory.grow)
	if err == nil {
		defer records.Close()
		var sent int
		sent, err = r.chunks(ctx, in, records, tasks)
		in.sentAll()
		if err := in.endBad(sent); err != nil {
			return err
		}
		in.lines = records.Lines()
		if err == nil && sent == 0 { // otherwise a worker makes a parser
			_, err = record.NewParser(r.format, in.Input.File(), records.Header())
		}
	}
	var stop *stopped
	switch {
	case errors.As(err, &stop):
		return stop.error
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case src.Err != nil:
		return in.own(delivered.Unread(in.Path, fmt.Errorf("load: %w", src.Err)))
	case err != nil:
		in.Fail(in.unfit(err))
		return nil
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return in.own(delivered.Unread(in.Path, fmt.Errorf("load: %w", err)))
	}
	in.sha = hex.EncodeToString(h.Sum(nil))
	return nil
}

// unpacking is the part of reader.unpacked that the decompression of one file takes.
type unpacking struct {
	*reader
	ctx  context.Context
	held int64 // bytes
}

// grow waits until the file may take some bytes. It frees the bytes that the file has, because other files may wait for them. A file
// that needs more than Format.Window is not read.
func (u *unpacking) grow(bytes int64) error {
	if bytes = min(bytes, u.format.Window); bytes <= u.held {
		return nil
	}
	u.release()
	if err := u.unpacked.Acquire(u.ctx, bytes); err != nil {
		return context.Cause(u.ctx)
	}
	u.held = bytes
	return nil
}

func (u *unpacking) release() {
	u.unpacked.Release(u.held)
	u.held = 0
}

// open starts to read the records of an input from raw. For a range, it reads the header from the
// file. If that fails, src holds the error.
func (r *reader) open(f dfs.File, raw io.Reader, src *dfs.Source, in *Input, grow record.Grow) (*record.Reader, error) {
	if in.Only == nil {
		return record.OpenGrowing(raw, in.Input.File(), r.format, grow)
	}
	head := &dfs.Source{R: io.NewSectionReader(f, 0, in.Size)}
	records, err := record.OpenRange(head, raw, in.Input.File(), r.format, in.Only.From, in.Only.To)
	if head.Err != nil {
		src.Err = head.Err
	}
	return records, err
}

// stopped is an error that is no fault of the file.
type stopped struct{ error }

// chunks sends one chunk of a file after the other, until the file has an error. It returns the number of chunks that it sent.
func (r *reader) chunks(ctx context.Context, in *Input, records *record.Reader, tasks chan<- task) (n int, err error) {
	for ; !in.Failed(); n++ {
		buf := r.buffer(in)
		c, err := records.Next(buf)
		if err != nil {
			r.recycle(buf)
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		in.sends()
		if err := pipe.Send(ctx, tasks, task{in: in, number: n, chunk: c, header: records.Header(), buffer: buf}); err != nil {
			return n, &stopped{err}
		}
	}
	return n, nil
}

// buffer returns a buffer for a chunk of a file.
func (r *reader) buffer(in *Input) []byte {
	select {
	case buf := <-r.buffers:
		return buf
	default:
	}
	size := int64(chunkBytes)
	if !record.IsCompressed(in.Path) {
		size = min(size, 2*in.Size+1) // most texts have at most twice as many bytes in UTF-8
	}
	return make([]byte, 0, size)
}

// recycle keeps a buffer of a chunk for another chunk. A corrected record has no buffer.
func (r *reader) recycle(buf []byte) {
	if cap(buf) < chunkBytes {
		return
	}
	select {
	case r.buffers <- buf[:0]:
	default:
	}
}

// counted adds the bytes that were read to the progress.
type counted struct {
	r        io.Reader
	progress *progress.Progress
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.progress.Add(int64(n))
	return n, err
}

// digestRanges reads a file, and computes its digest and the digests of its ranges.
func (r *reader) digestRanges(ctx context.Context, in *Input) error {
	if err := in.own(delivered.Unchanged(ctx, r.fs, &in.File)); err != nil || in.Failed() {
		return err
	}
	at := r.progress.Worker("digesting")
	defer at.End()
	at.At("%s, of %d bytes", in.Path, in.Size)
	f, err := dfs.OpenRegular(ctx, r.fs, in.Path)
	if err != nil {
		return in.own(delivered.Unread(in.Path, err))
	}
	defer f.Close()
	whole := sha256.New()
	raw := io.TeeReader(&counted{r: f, progress: r.progress}, whole)
	for _, part := range in.Ranges() {
		h := sha256.New()
		if _, err := io.CopyN(h, raw, part.To-part.From); errors.Is(err, io.EOF) {
			break // the file is shorter than it was, and will be refused
		} else if err != nil {
			return in.own(delivered.Unread(in.Path, fmt.Errorf("load: %w", err)))
		}
		in.ranges = append(in.ranges, hex.EncodeToString(h.Sum(nil)))
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return in.own(delivered.Unread(in.Path, fmt.Errorf("load: %w", err)))
	}
	in.sha = hex.EncodeToString(whole.Sum(nil))
	return nil
}

// readCorrected hands the corrected records of an input out, each as a chunk of its own.
func (r *reader) readCorrected(ctx context.Context, in *Input, tasks chan<- task) error {
	header, err := in.corrected.Header(ctx)
	if err != nil {
		in.Fail(err)
		return nil
	}
	n := 0
	err = in.corrected.Each(ctx, func(x Texts) error {
		in.count(manifest.Counts{Read: x.Repeated, Duplicate: x.Repeated})
		t := task{in: in, number: n, header: header}
		if len(x.Chunks) > 0 {
			t.chunk, t.again, t.lines = x.Chunks[0], x.Chunks[1:], x.Lines
		}
		for _, c := range x.Chunks {
			r.progress.Add(int64(len(c.Data) - 1)) // without the end of the line
		}
		n++
		return pipe.Send(ctx, tasks, t)
	})
	if refused := (*refusedError)(nil); errors.As(err, &refused) {
		in.Fail(refused.error)
		err = nil
	}
	return cmp.Or(err, in.endBad(n))
}
