package advise

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/roll"
)

// blockSize is the block size of all new tables. docs/reference/table.md has the measurements.
const blockSize = 16 << 10

// A form is a place and a compression of HFiles.
type form struct {
	where Place
	codec string // its name in a job
}

// options returns the options of HFiles for a table in f's place.
func (f form) options(l layout.Layout) hfile.Options {
	o := hfile.Options{Codec: hfile.Codec(strings.ToUpper(f.codec)), Encoding: hfile.FastDiff, BlockSize: blockSize, ShortIndexKeys: true}
	if f.where == HBase {
		o.Bloom = hfile.RowBloom
		return o
	}
	o.IndexChunk, o.GroupLen = 32<<10, layout.GroupLen(l)
	return o
}

// A counter is a writer that counts bytes.
type counter int64

// Write implements io.Writer.
func (n *counter) Write(b []byte) (int, error) {
	*n += counter(len(b))
	return len(b), nil
}

// sizes writes the sample in a layout, and returns the bytes per record in each form. For a table of
// files they include rolls.
func (s *Sample) sizes(j *job.Job, l layout.Layout, forms []form) ([]float64, error) {
	counts := make([]counter, len(forms))
	writers := make([]*hfile.Writer, len(forms))
	for i, f := range forms {
		var err error
		if writers[i], err = hfile.NewWriter(&counts[i], f.options(l)); err != nil {
			return nil, fmt.Errorf("advise: layout %s: %w", l.Name(), err)
		}
	}
	err := s.encode(j.Schema, l, func(c *cell.Cell) error {
		for _, w := range writers {
			if err := w.Add(c); err != nil {
				return err
			}
		}
		return nil
	})
	for _, w := range writers {
		if _, fail := w.Close(); err == nil {
			err = fail
		}
	}
	rolled, fail := s.rolled(j.Schema, l)
	if err = cmp.Or(err, fail); err != nil {
		return nil, fmt.Errorf("advise: layout %s: %w", l.Name(), err)
	}
	out := make([]float64, len(forms))
	for i, f := range forms {
		if f.where == Files {
			counts[i] += rolled
		}
		out[i] = float64(counts[i]) / float64(len(s.kept))
	}
	return out, nil
}

// A placed is a record in its row.
type placed struct {
	row    []byte
	record *behaviour.Record
}

// encode passes the cells of the kept records to emit, in order.
func (s *Sample) encode(schema *behaviour.Schema, l layout.Layout, emit func(*cell.Cell) error) error {
	all := make([]placed, len(s.kept))
	for i := range s.kept {
		all[i] = placed{l.AppendRow(nil, schema, &s.kept[i]), &s.kept[i]}
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(bytes.Compare(a.row, b.row), cmp.Compare(a.record.ID, b.record.ID))
	})
	e := l.Encoder(schema, "d")
	for i, p := range all {
		e.Add(p.record)
		if i+1 == len(all) || !bytes.Equal(p.row, all[i+1].row) {
			if err := e.Cells(p.row, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// rolled returns the size of the roll of the kept records.
func (s *Sample) rolled(schema *behaviour.Schema, l layout.Layout) (counter, error) {
	all := make([]placed, len(s.kept))
	span := behaviour.NoDays
	for i := range s.kept {
		r := &s.kept[i]
		all[i] = placed{l.AppendUserKey(nil, r.User), r}
		span.AddDay(r.Date)
	}
	same := func(a, b placed) int {
		return cmp.Or(bytes.Compare(a.row, b.row), cmp.Compare(a.record.Date, b.record.Date), cmp.Compare(a.record.Kind, b.record.Kind))
	}
	slices.SortFunc(all, same)
	var ids []uint16
	for _, k := range schema.Kinds {
		ids = append(ids, k.ID)
	}
	var n counter
	w := roll.NewWriter(&n, ids, span)
	for i := 0; i < len(all); {
		first := i
		for i < len(all) && same(all[first], all[i]) == 0 {
			i++
		}
		if err := w.Add(all[first].row, all[first].record.Date, all[first].record.Kind, int64(i-first)); err != nil {
			return 0, err
		}
	}
	_, err := w.Close()
	return n, err
}
