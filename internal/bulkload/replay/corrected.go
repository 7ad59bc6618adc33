package replay

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/shuffle"
)

// A corrected is a quarantine file that is replayed. It is read twice: once to check its
// lines, and once to sort them by delivered file and offset, in a quarter of the memory for
// sorting.
type corrected struct {
	with    *bulkload.Resources
	name    string
	most    int // bytes of a line, and of all texts of one record
	records int64
	bytes   int64    // of the texts
	edited  bool     // a text may be corrected
	paths   []string // of the delivered files, in order of their first record
	sorter  *shuffle.Sorter
}

// A correction is one text of a record.
type correction struct {
	offset, line int64
	at           int64 // its line in the quarantine file
	proven       bool  // its line has the digest of the loaded bytes
	marked       bool  // its line has marks
	edited       bool  // the user corrected the text, as far as it is known
	clip         clip
	fault        uint64 // faultOf the reason in its line
	raw          []byte
}

const (
	// offsetBytes is the memory that the offset of a record needs while a replay writes its
	// ledger and its quarantine file.
	offsetBytes = 128
	// pathBytes is the memory that the path of a delivered file needs in addition to its bytes.
	pathBytes = 256
)

// openCorrected checks the lines of a quarantine file.
func openCorrected(ctx context.Context, with *bulkload.Resources, name string) (*corrected, error) {
	c := &corrected{with: with, name: name}
	c.most = int(min(with.SortMemory()/int64(4+4*with.Workers), math.MaxInt32))
	known := map[string]bool{}
	held := int64(0)
	err := c.each(ctx, func(n int64, r *quarantine.Record, raw []byte) error {
		c.records++
		c.bytes += int64(len(raw))
		c.edited = c.edited || r.Corrected()
		if !known[r.Path] {
			known[r.Path] = true
			c.paths = append(c.paths, r.Path)
			if held += int64(len(r.Path)) + pathBytes; held > with.SortMemory()/8 {
				return c.refused(splitIt, "line %d: it has records of more than %s", n, english.Plural(len(known)-1, "delivered file", ""))
			}
		}
		return nil
	})
	if err == nil {
		err = c.tooMany()
	}
	return c, err
}

// tooMany returns an error if a ledger of all records would not fit in the memory.
func (c *corrected) tooMany() error {
	if most := c.with.SortMemory() / 4 * 3 / offsetBytes; c.records > most {
		return c.refused(splitIt, "it has %d records, and one replay can have %d", c.records, most)
	}
	return nil
}

// splitIt is the next step in the error for a file that is too large.
const splitIt = "split the file into smaller files and replay each of them"

// refused returns the error for a file that cannot be replayed within the memory. or is the next
// step for a user who cannot raise --memory.
func (c *corrected) refused(or, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s within %s of memory: raise --memory, or %s",
		bulkload.ErrRequest, c.name, fmt.Sprintf(format, args...), humanize.IBytes(uint64(c.with.Memory)), or)
}

// each calls do with the number of each line, its record and the record's text, which are
// valid until do returns.
func (c *corrected) each(ctx context.Context, do func(n int64, r *quarantine.Record, raw []byte) error) error {
	f, err := dfs.OpenRegular(ctx, c.with.FS, c.name)
	if errors.Is(err, dfs.ErrSpecial) {
		return fmt.Errorf("%w: %w: move it away, or name a quarantine file", bulkload.ErrRequest, err)
	}
	if errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("%w: %w", job.ErrNoInput, err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	var line []byte
	for n := int64(1); ; n++ {
		line, err = c.appendLine(line[:0], in)
		if len(line) > c.most {
			return c.refused("deliver its record in a file of another name", "line %d: it has more than the %d bytes that a line can have", n, c.most)
		}
		if len(line) > 1 {
			if e := c.one(n, line, do); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", c.name, err)
		}
	}
}

// appendLine appends the next line, or a part of it that is too long.
func (c *corrected) appendLine(to []byte, in *bufio.Reader) ([]byte, error) {
	for {
		b, err := in.ReadSlice('\n')
		to = append(to, b...)
		if err != bufio.ErrBufferFull || len(to) > c.most {
			return to, err
		}
	}
}

func (c *corrected) one(n int64, line []byte, do func(n int64, r *quarantine.Record, raw []byte) error) error {
	var r quarantine.Record
	err := r.Decode(line)
	if err == nil && r.Offset < 0 {
		err = fmt.Errorf("offset %d", r.Offset)
	}
	var raw []byte
	if err == nil {
		if raw, err = r.Text(); err != nil {
			err = fmt.Errorf("raw_base64: %w", err)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %s:%d: not a line of a quarantine file: %w", bulkload.ErrRequest, c.name, n, err)
	}
	if r.Moved() {
		return c.moved(n)
	}
	return do(n, &r, raw)
}

// moved returns the error for a line whose record would be loaded as another record.
func (c *corrected) moved(n int64) error {
	return fmt.Errorf("%w: %s:%d: the path, line, offset or sha256 of the record was changed, so that it would be loaded as another record: nothing of the file is loaded: restore them, and change only \"raw\"; or remove the line, and deliver the corrected record as a file of another name",
		bulkload.ErrLeft, c.name, n)
}

// memory returns how many bytes of Resources.SortMemory a replay uses: a quarter for sorting, a quarter for reading the
// users' records from the table, and 48 bytes for each record's offset and the checksum of its text.
func (c *corrected) memory() int64 { return c.with.SortMemory()/2 + 48*c.records }

// sort sorts the records of each file by offset. Records with the same offset stay in
// order. parts is the number of files. byName maps the path of a delivered file to its file.
//
//	row offset | seq number of the line in the quarantine file | payload as packed
func (c *corrected) sort(ctx context.Context, byName map[string]*file, parts int) (err error) {
	c.sorter, err = shuffle.New(shuffle.Config{
		FS: c.with.FS, Dir: dfs.Join(c.with.Temp, "replay"), Memory: c.with.SortMemory() / 4, Parts: parts, Readers: c.with.Workers,
	})
	if err != nil {
		return err
	}
	var row [8]byte
	var packed []byte
	read := int64(0)
	err = c.each(ctx, func(n int64, r *quarantine.Record, raw []byte) error {
		read++
		f := byName[r.Path]
		if f == nil || read > c.records {
			return c.changed()
		}
		x := correction{offset: r.Offset, line: r.Line, proven: r.SHA256 != "", marked: r.RawMark != "", edited: r.RawMark != "" && r.Corrected(), clip: clipOf(r, raw), fault: fault(r), raw: raw}
		if x.proven && r.SHA256 != f.sha {
			return fmt.Errorf("%w: %s:%d: the quarantine file belongs to another delivery (sha256 %s) than the loaded %s (%s), which has the corrected records: remove the quarantine file",
				bulkload.ErrRequest, c.name, n, r.SHA256, r.Path, f.sha)
		}
		f.unproven = f.unproven || !x.proven
		binary.BigEndian.PutUint64(row[:], uint64(r.Offset))
		packed = x.appendPacked(packed[:0])
		return c.sorter.Shard(0).Add(ctx, f.part, row[:], uint64(n), packed)
	})
	if err == nil && read != c.records {
		err = c.changed()
	}
	if err != nil {
		return err
	}
	return c.sorter.Finish(ctx)
}

func (c *corrected) tooManyTexts(x *correction) error {
	return c.refused("keep one text of each record", "line %d: the texts of its record have more than the %d bytes that those of one record can have", x.at, c.most)
}

// place returns where a text is in the quarantine file.
func (c *corrected) place(x *correction) string { return fmt.Sprintf("%s:%d", c.name, x.at) }

func (c *corrected) changed() error {
	return fmt.Errorf("%s changed after its lines were checked: replay a file that no program writes", c.name)
}

// close removes the sorted runs.
func (c *corrected) close(ctx context.Context) {
	if c.sorter != nil {
		_ = c.sorter.Close(ctx) // a later load removes the runs that stay
	}
}

// part iterates over the records of a part by offset. Each step has all texts of one record. An error
// ends the iteration.
func (c *corrected) part(ctx context.Context, part int) iter.Seq2[[]correction, error] {
	return func(yield func([]correction, error) bool) {
		it, err := c.sorter.Part(ctx, part)
		if err != nil {
			yield(nil, err)
			return
		}
		defer it.Close()
		var same []correction
		size := 0
		for it.Next() {
			x, err := unpackCorrection(int64(binary.BigEndian.Uint64(it.Row())), int64(it.Seq()), it.Payload())
			if err != nil {
				yield(nil, err)
				return
			}
			if len(same) > 0 && same[0].offset != x.offset {
				if !yield(same, nil) {
					return
				}
				same, size = nil, 0
			}
			if size += len(x.raw); size > c.most {
				yield(nil, c.tooManyTexts(&x))
				return
			}
			same = append(same, x)
		}
		if err := it.Err(); err != nil {
			yield(nil, err)
		} else if len(same) > 0 {
			yield(same, nil)
		}
	}
}

// appendPacked appends all fields of x except its offset and its line in the quarantine file.
func (x *correction) appendPacked(dst []byte) []byte {
	flags := byte(x.clip) << 3
	if x.marked {
		flags |= 4
	}
	if x.proven {
		flags |= 1
	}
	if x.edited {
		flags |= 2
	}
	dst = binary.BigEndian.AppendUint64(append(dst, flags), x.fault)
	return append(binary.AppendVarint(dst, x.line), x.raw...)
}

// packedHead is the number of bytes before the line of a packed correction: the flags and the fault.
const packedHead = 1 + 8

// unpackCorrection is the inverse of appendPacked. The text is a copy.
func unpackCorrection(offset, at int64, b []byte) (correction, error) {
	if len(b) > packedHead {
		if line, n := binary.Varint(b[packedHead:]); n > 0 {
			raw := b[packedHead+n:]
			return correction{
				offset: offset, line: line, at: at, proven: b[0]&1 != 0, edited: b[0]&2 != 0, marked: b[0]&4 != 0, clip: clip(b[0] >> 3), fault: binary.BigEndian.Uint64(b[1:]),
				raw: append(make([]byte, 0, len(raw)+1), raw...),
			}, nil
		}
	}
	return correction{}, fmt.Errorf("packed correction of %d bytes is damaged", len(b))
}
