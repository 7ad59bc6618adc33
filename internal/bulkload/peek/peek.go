// Package peek parses a bounded part of a delivered file, as a load would parse it.
//
// A file that can be read in ranges is read at its beginning, in its middle and at its end,
// because files often differ there: the last line is cut, or a kind of record is rare at
// first. Other files, such as compressed ones, are read at their beginning.
package peek

import (
	"context"
	"errors"
	"fmt"
	"io"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// errEnough ends the parsing of a part when enough records are parsed.
var errEnough = errors.New("enough records")

// Read parses at most records records of a file, and passes them to s. The errors of s end the
// reading and are returned unchanged. The line numbers of bad records are 0 where they would
// not be numbers of the file: after its beginning.
func Read(ctx context.Context, files dfs.FS, format *record.Format, file record.File, records int64, s record.Sink) error {
	f, err := files.Open(ctx, file.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	p := part{ctx: ctx, format: format, file: file, sink: s, left: records}
	whole := format.WhyWhole(file.Path) != ""
	if !whole {
		p.left = (records + 2) / 3
	}
	r, err := record.Open(f, file, format)
	if err != nil {
		return err
	}
	defer r.Close()
	end, err := p.parse(r)
	if err != nil || whole || end >= f.Size() || p.read == 0 {
		return err
	}
	return p.readRest(f, end, records)
}

// A part counts the records that are parsed of a file.
type part struct {
	ctx    context.Context
	format *record.Format
	file   record.File
	sink   record.Sink

	read  int64 // parsed records
	left  int64 // of this part
	later bool  // the part is not the beginning
	ended int64 // an offset up to which everything is parsed
}

// parse parses records until enough are parsed. It returns an offset before which it has parsed
// all records. At the end of the file, this offset is beyond the file.
func (p *part) parse(r *record.Reader) (int64, error) {
	parser, err := record.NewParser(p.format, p.file, r.Header())
	if err != nil {
		return 0, err
	}
	for buf := make([]byte, 64<<10); ; {
		if err := p.ctx.Err(); err != nil {
			return 0, context.Cause(p.ctx)
		}
		c, err := r.Next(buf)
		if err == io.EOF {
			return 1<<63 - 1, nil
		}
		if err != nil {
			return 0, err
		}
		p.ended = c.Offset
		if err := parser.Parse(c, p); errors.Is(err, errEnough) {
			return p.ended, nil
		} else if err != nil {
			return 0, err
		}
		p.ended = c.Offset + int64(len(c.Data))
	}
}

// readRest parses a third of the records from the middle of a file, and a third from its end.
// The first third took the bytes before end.
func (p *part) readRest(f dfs.File, end, records int64) error {
	size, each := f.Size(), max(1, end*records/(3*p.read))
	last := end
	places := []int64{size / 2, size - each}
	if size <= end+each*9/4 {
		places = []int64{end} // the rest is about what the other two parts are
	}
	left := (records - p.read) / int64(len(places))
	for _, at := range places {
		if last >= size {
			return nil
		}
		from, sure, err := p.format.Begins(f, size, max(at, last))
		if err != nil {
			return fmt.Errorf("%s: %w", p.file.Path, err)
		}
		if !sure || from >= size {
			continue
		}
		r, err := record.OpenRange(io.NewSectionReader(f, 0, size), io.NewSectionReader(f, from, size-from), p.file, p.format, from, size)
		if err != nil {
			return err
		}
		p.left, p.later = left, true
		last, err = p.parse(r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// count counts a record.
func (p *part) count() error {
	if p.left == 0 {
		return errEnough
	}
	p.left--
	p.read++
	return nil
}

// Keep implements record.Sink.
func (p *part) Keep(r *behaviour.Record) error {
	p.ended = r.ID
	if err := p.count(); err != nil {
		return err
	}
	return p.sink.Keep(r)
}

// Skip implements record.Sink.
func (p *part) Skip(s *record.Skipped) error {
	p.ended = s.Offset
	if err := p.count(); err != nil {
		return err
	}
	return p.sink.Skip(s)
}

// Reject implements record.Sink.
func (p *part) Reject(r *record.Reject) error {
	p.ended = r.Offset
	if err := p.count(); err != nil {
		return err
	}
	if p.later {
		r.Line = 0
	}
	return p.sink.Reject(r)
}
