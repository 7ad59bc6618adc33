package bulkload

import (
	"context"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/column"
	"usertrail/internal/manifest"
	"usertrail/internal/record"
)

// A record is replayed to where its line is in the delivered file, so the line must be of the
// bytes that were loaded, and must not have brought a record yet.

// prove refuses bad records of other bytes than those that were loaded of in.
func (l *load) prove(ctx context.Context, in *input) error {
	old := map[int64]int64{} // line by offset
	for i := range in.replay {
		switch r := &in.replay[i]; r.SHA256 {
		case in.sha:
		case "":
			old[r.Offset] = r.Line
		default:
			return fmt.Errorf("%w: %s, line %d: the quarantine file is of other bytes (sha256 %s) than were loaded (%s), which brought its corrected records: remove the quarantine file",
				ErrRequest, r.Path, r.Line, r.SHA256, in.sha)
		}
	}
	if len(old) == 0 {
		return nil
	}
	bad, err := l.badLines(ctx, in)
	if err != nil {
		return fmt.Errorf("%w: %s: its quarantine file does not tell of which bytes it is, and: %w: deliver the corrected records as a file of another name", ErrRequest, in.Rel, err)
	}
	for offset, line := range old {
		if n, ok := bad[offset]; !ok || n != line {
			return fmt.Errorf("%w: %s, line %d: its quarantine file does not tell of which bytes it is, and no record of the file is bad at byte %d: deliver the corrected record as a file of another name",
				ErrRequest, in.Rel, line, offset)
		}
	}
	return nil
}

// badLines are the lines of the bad records of a delivered file, by offset.
func (l *load) badLines(ctx context.Context, in *input) (map[int64]int64, error) {
	path, err := l.delivered(ctx, in)
	if err != nil {
		return nil, err
	}
	f, err := l.cfg.FS.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file := in.File()
	file.Path = path
	r, err := record.Open(f, file, &l.job.Format)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := record.NewParser(&l.job.Format, file, r.Header())
	if err != nil {
		return nil, err
	}
	bad := rejected{}
	for buf := make([]byte, 0, chunkBytes); ; {
		c, err := r.Next(buf)
		if err == io.EOF {
			return bad, nil
		}
		if err == nil {
			err = p.Parse(c, bad)
		}
		if err != nil {
			return nil, err
		}
	}
}

// rejected is a sink that remembers lines of bad records, by offset.
type rejected map[int64]int64

// Keep implements record.Sink.
func (r rejected) Keep(*behaviour.Record) error { return nil }

// Skip implements record.Sink.
func (r rejected) Skip() error { return nil }

// Reject implements record.Sink.
func (r rejected) Reject(x *record.Reject) error {
	r[x.Offset] = x.Line
	return nil
}

// hasUnledgered says whether a replay that was killed may have left records in the table. Of
// delivered files a load remembers the numbers, of a replay there are none.
func (l *load) hasUnledgered(ctx context.Context) (bool, error) {
	from, ok := l.target.(interface {
		Left(ctx context.Context) (*manifest.Begun, error)
	})
	if !ok {
		return false, nil
	}
	left, err := from.Left(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(left.Rolls, func(r manifest.Rolled) bool { return len(r.Inputs) == 0 }), nil
}

// present finds the replayed records that are in the table.
type present struct {
	*batch
	ctx  context.Context
	user []byte
	ids  map[dayKey]map[int64]bool // of user: column IDs
}

func newPresent(ctx context.Context, b *batch) *present {
	return &present{batch: b, ctx: ctx, ids: map[dayKey]map[int64]bool{}}
}

// repeats says whether r, of a replayed file and in a row, is in the table. What a replay that
// was killed put there is put again.
func (p *present) repeats(in *input, row []byte, r *behaviour.Record) (bool, error) {
	if in.replay == nil || p.unledgered {
		return false, nil
	}
	if user := p.layout.UserKey(row); string(user) != string(p.user) {
		p.user = append(p.user[:0], user...)
		clear(p.ids)
	}
	day := dayKey{r.Date, r.Kind}
	ids := p.ids[day]
	if ids == nil {
		events, err := p.eventsOf(p.ctx, p.user, day)
		if err != nil {
			return false, err
		}
		ids = map[int64]bool{}
		for i := range events.Events {
			ids[events.Events[i].ID] = true
		}
		p.ids[day] = ids
	}
	if ids[r.ID] {
		_, offset := column.Place(r.ID)
		in.notReplayed(offset)
		return true, nil
	}
	return false, nil
}

// notReplayed forgets the offset of a record that another load brought.
func (in *input) notReplayed(offset int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.offsets = slices.DeleteFunc(in.offsets, func(o int64) bool { return o == offset })
}
