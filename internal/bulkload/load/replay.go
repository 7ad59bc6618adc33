package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/column"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// Replay loads the corrected records of a quarantine file. A record keeps the column ID of its
// line in the delivered file. A record that was replayed before is a duplicate. Records that are
// still bad go to another quarantine file.
func Replay(ctx context.Context, cfg Config, name string) (r bulkload.Result, err error) {
	l, err := newLoad(cfg)
	if err != nil {
		return bulkload.Result{}, err
	}
	from, err := l.openCorrected(ctx, name)
	if err != nil {
		return bulkload.Result{}, err
	}
	defer from.close(ctx)
	if from.records == 0 {
		return bulkload.Result{}, fmt.Errorf("%w: %s holds no records", bulkload.ErrNothing, name)
	}
	lock, err := cfg.Store.Lock(ctx)
	if err != nil {
		return l.result, err
	}
	defer bulkload.Unlock(lock, &err)
	if err := l.openExisting(ctx); err != nil {
		return l.result, err
	}
	inputs, err := l.replayed(ctx, from)
	if err != nil {
		return l.result, err
	}
	for _, in := range inputs {
		if err := l.prove(ctx, in); err != nil {
			return l.result, err
		}
	}
	if l.unledgered, err = l.hasUnledgered(ctx); err != nil {
		return l.result, err
	}
	if err := l.settleMode(ctx, l.result.Bytes); err != nil {
		return l.result, err
	}
	if err := l.loadAll(ctx, inputs); err != nil {
		return l.result, err
	}
	err = bulkload.Joined(l.failed)
	if err == nil && l.result.Quarantined > 0 {
		err = fmt.Errorf("%w: %d of %d are still bad; see %s", bulkload.ErrTooBad, l.result.Quarantined, l.result.Read, dfs.Dir(cfg.Store.Quarantine("x")))
	}
	return l.result, err
}

func (l *load) openExisting(ctx context.Context) error {
	if err := l.open(ctx, job.Found{}); err != nil {
		return err
	}
	if err := l.recover(ctx); err != nil {
		return err
	}
	if l.target.NextLoad() == 1 {
		return fmt.Errorf("%w: %s", table.ErrNoTable, l.cfg.Store.Address())
	}
	if err := l.extend(); err != nil {
		return err
	}
	return l.learn(ctx)
}

// replayed makes one input of each delivered file that has records in from, and sorts them.
func (l *load) replayed(ctx context.Context, from *corrected) ([]*input, error) {
	byPath := map[string]*input{} // of the original
	byName := map[string]*input{}
	var out []*input
	for _, name := range from.paths {
		path := l.original(name)
		in := byPath[path]
		if in == nil {
			var err error
			if in, err = l.replayInput(path); err != nil {
				return nil, err
			}
			in.replay = &corrections{from: from, part: len(out)}
			byPath[path] = in
			out = append(out, in)
		}
		if !slices.Contains(in.names, name) {
			in.names = append(in.names, name)
		}
		byName[name] = in
	}
	l.result.Bytes, l.replayMemory = from.bytes, from.memory()
	return out, from.sort(ctx, byName, len(out))
}

// original returns the path of the first file that has the same bytes as the file at path. A
// bad record of both files is loaded once.
func (l *load) original(path string) string {
	if copies := l.copiesOf(path); len(copies) > 0 {
		return copies[0].Path
	}
	return path
}

// copiesOf are the files with the bytes of the one called path that loads brought records
// of, the oldest first.
func (l *load) copiesOf(path string) []ledger.Copy {
	known := l.ledgers.File(path)
	if known == nil {
		return nil
	}
	return l.ledgers.Copies(ledger.ContentOf(known))
}

// replayInput is the delivered file called path, as the ledgers know it.
func (l *load) replayInput(path string) (*input, error) {
	old := l.ledgers.File(path)
	if old == nil {
		return nil, fmt.Errorf("%w: %s is not in the table: load it before its bad records are replayed", bulkload.ErrRequest, path)
	}
	full := l.job.Pattern.Root + "/" + path
	date, kind, ok := l.job.Pattern.Match(full)
	if !ok {
		return nil, fmt.Errorf("%w: %s is none of the job's files", bulkload.ErrRequest, path)
	}
	in := &input{number: old.Number}
	in.Path, in.Rel, in.Date, in.Kind, in.Size, in.Modified = full, path, date, kind, old.Size, old.Modified
	in.sha, in.names = old.SHA256, []string{path}
	for _, c := range l.copiesOf(path) {
		if !slices.Contains(in.names, c.Path) {
			in.names = append(in.names, c.Path)
		}
	}
	for _, name := range in.names {
		for _, k := range l.ledgers.Inputs(name) {
			if !slices.Contains(in.numbers, k.Number) {
				in.numbers = append(in.numbers, k.Number)
			}
			if len(k.Offsets) > 0 {
				in.done = append(in.done, k.Offsets)
			}
		}
	}
	in.reads = l.earlierReads(ledger.ContentOf(old))
	return in, nil
}

// delivered returns the path of a file that still has the loaded bytes: the delivered file or a
// copy.
func (l *load) delivered(ctx context.Context, in *input) (string, error) {
	why := fmt.Errorf("%w: %s is gone", job.ErrNoInput, in.Path)
	for _, name := range in.names {
		f := job.Input{Path: l.job.Pattern.Root + "/" + name}
		info, err := l.cfg.FS.Stat(ctx, f.Path)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		f.Size, f.Modified = info.Size, info.Modified
		err = l.sameFile(ctx, f, l.ledgers.File(name))
		if err == nil {
			return f.Path, nil
		}
		if !errors.Is(err, bulkload.ErrChanged) {
			return "", err
		}
		why = err
	}
	return "", why
}

// replayFile hands the corrected records out, each as a chunk of its own.
func (b *batch) replayFile(ctx context.Context, in *input, tasks chan<- task) error {
	header, err := b.header(ctx, in)
	if err != nil {
		in.fail(err)
		return nil
	}
	whole := &wholeTexts{batch: b, ctx: ctx, in: in}
	defer whole.close()
	n := 0
	for same, err := range in.replay.records(ctx) {
		if err != nil {
			return err
		}
		if same, err = whole.of(same); err != nil {
			in.fail(err)
			return nil
		}
		in.replay.offsets = append(in.replay.offsets, same[0].offset)
		t := task{in: in, number: n, header: header}
		b.oneRecord(&t, same)
		if err := pipe.Send(ctx, tasks, t); err != nil {
			return err
		}
		n++
	}
	return nil
}

// oneRecord gives a task the texts of one record. If the record was replayed before, no text is
// read and all are duplicates.
func (b *batch) oneRecord(t *task, texts []correction) {
	if t.in.replayedBefore(texts[0].offset) {
		n := int64(len(texts))
		t.in.mu.Lock()
		t.in.counts.Add(manifest.Counts{Read: n, Duplicate: n})
		t.in.mu.Unlock()
		return
	}
	for i, x := range texts {
		b.progress.Add(int64(len(x.raw)))
		c := record.Chunk{Data: append(x.raw, '\n'), Offset: x.offset, Line: x.line}
		if i == 0 {
			t.chunk = c
		} else {
			t.again = append(t.again, c)
		}
	}
}

// replayedBefore reports whether a ledger lists a replay of the record at an offset.
func (in *input) replayedBefore(offset int64) bool {
	return slices.ContainsFunc(in.done, func(offsets []int64) bool {
		_, found := slices.BinarySearch(offsets, offset)
		return found
	})
}

// texts reads the texts of one record. The first good text is the record. The other texts are
// then duplicates, whether they are bad or equal to it.
func (p *parser) texts(t task) error {
	defer func() { p.settled = false }()
	var sum manifest.Counts
	var rejects []quarantine.Record
	var good []byte
	for _, c := range append([]record.Chunk{t.chunk}, t.again...) {
		if len(c.Data) == 0 {
			continue // the record was replayed before
		}
		p.counts, p.rejects = manifest.Counts{}, nil
		if err := p.parser.Parse(c, p); err != nil {
			return err
		}
		p.checkOne(t)
		sum.Add(p.counts)
		rejects = append(rejects, p.rejects...)
		switch {
		case p.counts.Quarantined > 0:
		case !p.settled:
			p.settled, good = true, c.Data
		case !bytes.Equal(c.Data, good):
			t.in.fail(fmt.Errorf("%w: %s, line %d: two corrected texts of it differ: keep one", bulkload.ErrRequest, t.in.Rel, c.Line))
		}
	}
	p.counts, p.rejects = sum, rejects
	if p.settled {
		p.counts.Duplicate, p.counts.Quarantined, p.rejects = sum.Duplicate+sum.Quarantined, 0, nil
	}
	return nil
}

// replayedOne remembers the offset of a record that is not one of an earlier load.
func (in *input) replayedOne(id int64) {
	_, offset := column.Place(id)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.offsets = append(in.offsets, offset)
}

// checkOne refuses a corrected text that is not one record: a second one would have
// the column ID of another.
func (p *parser) checkOne(t task) {
	if p.counts.Read != 1 {
		t.in.fail(fmt.Errorf("%w: %s, line %d: the corrected text holds %d records: it must hold the one that it was",
			bulkload.ErrRequest, t.in.Rel, t.chunk.Line, p.counts.Read))
	}
}

// header is the delivered file's, where the job takes the columns' names from
// there.
func (b *batch) header(ctx context.Context, in *input) ([]string, error) {
	if !b.job.Format.Header || len(b.job.Format.Names) > 0 {
		return b.job.Format.Names, nil
	}
	path, err := b.delivered(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("replay records of %s: the names of its columns: %w: deliver the corrected records as a file of another name", in.Rel, err)
	}
	f, r, err := b.openDelivered(ctx, in, path)
	if err != nil {
		return nil, fmt.Errorf("the names of the columns: %w", err)
	}
	defer f.Close()
	defer r.Close()
	return r.Header(), nil
}

// openDelivered begins to read the delivered file of in, or a copy of it, at path.
func (b *batch) openDelivered(ctx context.Context, in *input, path string) (dfs.File, *record.Reader, error) {
	f, err := b.cfg.FS.Open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	file := in.File()
	file.Path = path // its ending says how it is compressed
	r, err := record.Open(f, file, &b.job.Format)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, r, nil
}
