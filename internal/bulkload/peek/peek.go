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
	"math"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// errEnough ends the parsing of a part when enough records are parsed.
var errEnough = errors.New("enough records")

// A Limit bounds the part of a file that is parsed. A zero field sets no bound.
type Limit struct {
	Records int64
	Bytes   int64 // of text; each of the places may have one record more
}

// An Extent describes the part of a file that was parsed.
type Extent struct {
	Bytes int64 // of text
	Whole bool  // the whole file
	// Beginning is the reason why only the beginning of the file was parsed. It is "" if Whole
	// is set, or if the middle and the end were parsed too.
	Beginning string
	// Skip shows which columns of Format.Skip the records have.
	Skip record.SkipColumns
}

// Read parses a part of a file, and passes its records to s. The errors of s end the
// reading and are returned unchanged. The line numbers of bad and skipped records are 0 where they would
// not be numbers of the file: after its beginning.
func Read(ctx context.Context, files dfs.FS, format *record.Format, file record.File, limit Limit, s record.Sink) (Extent, error) {
	f, err := dfs.OpenRegular(ctx, files, file.Path)
	if err != nil {
		return Extent{}, err
	}
	defer f.Close()
	r, err := record.Open(f, file, format)
	if err != nil {
		return Extent{}, err
	}
	defer r.Close()
	p := part{ctx: ctx, format: format, file: file, sink: s, total: limit}
	err = p.read(f, r)
	return p.extent, err
}

// A part is the part of a file that is parsed at one of the places.
type part struct {
	ctx    context.Context
	format *record.Format
	file   record.File
	sink   record.Sink
	total  Limit
	extent Extent

	records int64 // parsed records of all places
	left    int64 // records of this place
	until   int64 // an offset; no record that begins there or later is parsed
	later   bool  // the place is not the beginning
	ended   int64 // an offset up to which everything is parsed
}

// read parses an open file. r reads f from the beginning.
func (p *part) read(f dfs.File, r *record.Reader) error {
	p.left, p.until = unless0(p.total.Records), unless0(p.total.Bytes)
	p.extent.Beginning = p.format.WhyWhole(p.file.Path)
	ranges := p.extent.Beginning == "" && f.Size() > p.until
	if p.extent.Beginning == "" && p.total.Records > 0 {
		ranges, p.left = true, (p.total.Records+2)/3
	}
	if ranges {
		p.until = max(1, p.until/3)
	}
	end, err := p.parse(r, 0)
	p.extent.Whole = err == nil && end == endOfFile
	if err != nil || p.extent.Whole || !ranges || p.records == 0 {
		return err
	}
	return p.readRest(f, end)
}

// unless0 returns a bound: n, or no bound if n is 0.
func unless0(n int64) int64 {
	if n == 0 {
		return math.MaxInt64
	}
	return n
}

// endOfFile is the offset that parse returns at the end of the file.
const endOfFile = math.MaxInt64

// parse parses records from an offset until enough are parsed. It returns an offset before which
// it has parsed all records, or endOfFile.
func (p *part) parse(r *record.Reader, from int64) (end int64, err error) {
	p.ended = from
	defer func() { p.extent.Bytes += p.ended - from }()
	parser, err := record.NewParser(p.format, p.file, r.Header())
	if err != nil {
		return 0, err
	}
	parser.FindHeaders(r.Header(), from == 0)
	defer func() { p.extent.Skip.Add(parser) }()
	for buf := make([]byte, 64<<10); ; {
		if err := p.ctx.Err(); err != nil {
			return 0, context.Cause(p.ctx)
		}
		c, err := r.Next(buf)
		if err == io.EOF {
			return endOfFile, nil
		}
		if err != nil {
			return 0, err
		}
		if err := parser.Parse(c, p); errors.Is(err, errEnough) {
			return p.ended, nil
		} else if err != nil {
			return 0, err
		}
		p.ended = c.Offset + int64(len(c.Data))
	}
}

// readRest parses as much of a file's middle, and of its end, as was parsed of its beginning,
// which ends at end.
func (p *part) readRest(f dfs.File, end int64) error {
	size, last := f.Size(), end
	each := end
	if p.total.Records > 0 {
		each = max(1, end*p.total.Records/(3*p.records))
	}
	places := []int64{size / 2, size - each}
	if size <= end+each*9/4 {
		places = []int64{end} // the rest is about what the other two parts are
	}
	left := (unless0(p.total.Records) - p.records) / int64(len(places))
	for i, at := range places {
		if last >= size {
			return nil
		}
		from, sure, err := p.format.Begins(f, size, max(at, last))
		if err != nil {
			return fmt.Errorf("%s: %w", p.file.Path, err)
		}
		if !sure {
			p.extent.Beginning = "quotes may be open elsewhere"
			continue
		}
		if from >= size {
			continue
		}
		p.left, p.until, p.later = left, math.MaxInt64, true
		if i < len(places)-1 && p.total.Bytes > 0 {
			p.until = from + each
		}
		if last, err = p.parseRange(f, from); err != nil {
			return err
		}
	}
	p.extent.Whole = len(places) == 1 && last == endOfFile
	return nil
}

// parseRange parses a file from an offset.
func (p *part) parseRange(f dfs.File, from int64) (end int64, err error) {
	size := f.Size()
	r, err := record.OpenRange(io.NewSectionReader(f, 0, size), io.NewSectionReader(f, from, size-from), p.file, p.format, from, size)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return p.parse(r, from)
}

// count counts a record that begins at an offset.
func (p *part) count(offset int64) error {
	p.ended = offset
	if p.left == 0 || offset >= p.until {
		return errEnough
	}
	p.left--
	p.records++
	return nil
}

// Keep implements record.Sink.
func (p *part) Keep(r *behaviour.Record) error {
	if err := p.count(r.ID); err != nil {
		return err
	}
	return p.sink.Keep(r)
}

// Skip implements record.Sink.
func (p *part) Skip(s *record.Skipped) error {
	if err := p.count(s.Offset); err != nil {
		return err
	}
	if p.later {
		s.Line = 0
	}
	return p.sink.Skip(s)
}

// Reject implements record.Sink.
func (p *part) Reject(r *record.Reject) error {
	if err := p.count(r.Offset); err != nil {
		return err
	}
	if p.later {
		r.Line = 0
	}
	return p.sink.Reject(r)
}
