package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
	"usertrail/internal/trail"
)

// A regionWriter writes the cells of one of the target's regions, and counts
// the records of each row for the roll.
type regionWriter struct {
	from    table.Exporter
	out     *segment.Writer
	number  int // of the load
	count   tally.Counter
	records int64
	span    behaviour.Span

	row     []byte
	counts  segment.Counts // of the row
	decoder layout.Decoder
	events  trail.Batch
}

// newRegion returns a writer of a region. span has the dates of all records. most is the memory in bytes for
// the records of one row.
func (i *importer) newRegion(ctx context.Context, region int, span behaviour.Span, most int) *regionWriter {
	info, number := i.to.Info(), i.to.Stager.NextLoad()
	w := &regionWriter{
		from: i.from, number: number, span: behaviour.NoDays,
		out:     target.NewSegment(ctx, i.to.Stager, &i.with, i.to.Stager.FileName(number, region), span),
		decoder: info.Layout.Decoder(info.Schema, layout.Everyone(info.Schema, span)),
	}
	w.events.Most = most
	w.decoder.Into(&w.events, func([]byte) (uint32, bool) { return 0, true })
	return w
}

// written is what is in the files of one region. It outlives the regionWriter, and keeps none of its buffers.
type written struct {
	file  manifest.File // without records if the region has none
	tally tally.Tally
}

func (w *regionWriter) write(ctx context.Context, loads []int, r split.Region, p *progress.Progress) (written, error) {
	defer w.out.Abort()
	at := p.Worker("writing")
	defer at.End()
	at.At("the region from %q on, of loads %v", r.Start, loads)
	err := w.from.Export(ctx, loads, r, func(c *cell.Cell) error {
		if !bytes.Equal(c.Row, w.row) {
			if err := w.endRow(); err != nil {
				return err
			}
			w.row = append(w.row[:0], c.Row...)
		}
		w.count.Add(c)
		if err := w.decoder.Add(c); err != nil {
			return w.tooLarge(err)
		}
		if w.count.Cells%1024 == 0 {
			p.Add(1024)
		}
		return w.out.Add(c)
	})
	if err == nil {
		err = w.endRow()
	}
	if err != nil || w.records == 0 {
		return written{tally: w.count.Tally}, err
	}
	file, err := w.out.Finish(w.count.Tally)
	file.Load, file.Records, file.Span = w.number, w.records, w.span
	return written{file, w.count.Tally}, err
}

func (w *regionWriter) endRow() error {
	if len(w.row) == 0 {
		return nil
	}
	if err := w.decoder.Flush(); err != nil {
		return w.tooLarge(err)
	}
	n := int64(len(w.events.Events))
	if n == 0 {
		return fmt.Errorf("row %q of %s holds no record", w.row, w.from.Info().Address)
	}
	w.records += n
	for i := range w.events.Events {
		e := &w.events.Events[i]
		date := behaviour.Date(e.Date)
		w.span.AddDay(date)
		w.counts.Add(date, int(e.Kind))
	}
	w.events.Reset()
	err := w.out.EndRow(w.row, &w.counts)
	w.counts.Reset()
	return err
}

// tooLarge adds the row to err, if err means that the records of the row do not fit in memory.
func (w *regionWriter) tooLarge(err error) error {
	if !errors.Is(err, trail.ErrFull) {
		return err
	}
	from := w.from.Info()
	user, e := from.Layout.AppendUser(nil, from.Layout.UserKey(w.row))
	if e != nil {
		return e
	}
	return fmt.Errorf("%w: user %q: the row %.64q of %s has more than %d records, and %s is too little memory to count them: raise --memory, lower --workers, or load the table from the logs: %w",
		bulkload.ErrRequest, user, w.row, from.Address, len(w.events.Events), humanize.IBytes(uint64(w.events.Most)), err)
}
