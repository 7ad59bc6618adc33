package roll

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// A Writer writes a roll. Only one goroutine may use it.
type Writer struct {
	w    io.Writer
	meta Meta
	err  error // the first error of any call; all later calls return it

	entry Entry // the user whose records are being added
	last  []byte
	first []byte // first user of the block
	block blockBuilder
	index indexBuilder
	off   int64
	buf   []byte
}

// NewWriter returns a Writer of a roll for records of the behaviours with ids,
// ascending, on the days of span. If these are invalid, the first Add or Close returns the
// error.
func NewWriter(w io.Writer, ids []uint16, span behaviour.Span) *Writer {
	rw := &Writer{w: w, meta: Meta{IDs: slices.Clone(ids), Span: span}}
	rw.block.oneDate, rw.block.lists = span.From == span.To, len(ids) > mostInWord
	if err := checkHead(ids, span); err != nil {
		rw.err = fmt.Errorf("roll: %w", err)
	}
	return rw
}

// Add adds records of a user on a date. kind is the index of their behaviour in the IDs. All
// records of a user must be added together, in any order and in any number of calls. Users
// must ascend. Add keeps no reference to user.
func (w *Writer) Add(user []byte, date behaviour.Date, kind int, records int64) error {
	if w.err != nil {
		return w.err
	}
	if err := w.check(date, kind, records); err != nil {
		w.err = fmt.Errorf("roll: user %.64q: %w", user, err)
		return w.err
	}
	if w.entry.Records == 0 || !bytes.Equal(user, w.entry.User) {
		if w.err = w.begin(user); w.err != nil {
			return w.err
		}
	}
	w.entry.Records += records
	w.addDay(date, kind)
	return nil
}

func (w *Writer) check(date behaviour.Date, kind int, records int64) error {
	if !w.meta.Span.Has(date) {
		return fmt.Errorf("date %s is not in %s", date, w.meta.Span)
	}
	if kind < 0 || kind >= len(w.meta.IDs) {
		return fmt.Errorf("behaviour %d of %d", kind, len(w.meta.IDs))
	}
	if records < 1 {
		return fmt.Errorf("%d records on %s", records, date)
	}
	return nil
}

// begin ends the previous user and begins a new one.
func (w *Writer) begin(user []byte) error {
	if len(user) == 0 || len(user) > MaxUser {
		return fmt.Errorf("roll: user %.64q: %d bytes are not in 1..%d", user, len(user), MaxUser)
	}
	if w.entry.Records > 0 && bytes.Compare(w.entry.User, user) > 0 {
		return fmt.Errorf("roll: user %.64q comes after %.64q", user, w.entry.User)
	}
	if err := w.endUser(); err != nil {
		return err
	}
	w.entry.User = append(w.entry.User[:0], user...)
	w.entry.Days, w.entry.sets = w.entry.Days[:0], w.entry.sets[:0]
	w.entry.Records = 0
	return nil
}

// addDay adds a kind to a date of the user. Dates mostly ascend.
func (w *Writer) addDay(date behaviour.Date, kind int) {
	e := &w.entry
	i := len(e.Days)
	for i > 0 && e.Days[i-1].Date > date {
		i--
	}
	if i > 0 && e.Days[i-1].Date == date {
		w.addKind(i-1, kind)
		return
	}
	e.Days = slices.Insert(e.Days, i, Day{Date: date})
	if w.block.lists {
		e.sets = slices.Insert(e.sets, i, activity.Set{})
	}
	w.addKind(i, kind)
}

// addKind adds a kind to day i of the user.
func (w *Writer) addKind(i, kind int) {
	if w.block.lists {
		w.entry.sets[i].Add(kind)
	} else {
		w.entry.Days[i].word |= 1 << kind
	}
}

// endUser adds the finished user to the block.
func (w *Writer) endUser() error {
	e := &w.entry
	if e.Records == 0 {
		return nil
	}
	if w.block.users == 0 {
		w.first = append(w.first[:0], e.User...)
		w.last = w.last[:0] // a block must be readable without the previous block
	}
	w.block.add(w.last, e, w.meta.Span.From)
	w.last = append(w.last[:0], e.User...)
	w.meta.Users++
	w.meta.UserDays += int64(len(e.Days))
	w.meta.Records += e.Records
	if w.block.size() >= blockSize {
		return w.endBlock()
	}
	return nil
}

// endBlock writes the block.
func (w *Writer) endBlock() error {
	enc, err := encoder()
	if err != nil {
		return fmt.Errorf("roll: zstd: %w", err)
	}
	raw := w.block.finish()
	w.buf = enc.EncodeAll(raw, w.buf[:0])
	w.index.add(&blockInfo{stored: len(w.buf), raw: len(raw), users: int64(w.block.users), first: w.first})
	w.buf = binary.BigEndian.AppendUint32(w.buf, checksum(w.buf))
	w.block.reset()
	return w.write(w.buf)
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	if err != nil {
		return fmt.Errorf("roll: write at %d: %w", w.off+int64(n), err)
	}
	w.off += int64(n)
	return nil
}

// Close writes the rest of the roll and returns its description. It does not close the
// io.Writer.
func (w *Writer) Close() (Meta, error) {
	if w.err != nil {
		return Meta{}, w.err
	}
	if err := w.close(); err != nil {
		w.err = err
		return Meta{}, err
	}
	w.err = fmt.Errorf("roll: closed")
	return w.meta, nil
}

func (w *Writer) close() error {
	if err := w.endUser(); err != nil {
		return err
	}
	if w.block.users > 0 {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	size, sum, err := w.index.write(w.last, w.write)
	if err != nil {
		return err
	}
	if err := w.write(appendFooter(nil, &footer{meta: w.meta, indexLen: size, indexCRC: sum})); err != nil {
		return err
	}
	w.meta.Blocks, w.meta.Size = w.index.blocks, w.off
	if w.index.blocks > 0 {
		w.meta.First, w.meta.Last = w.index.first, bytes.Clone(w.last)
	}
	return nil
}

// A blockBuilder collects the columns of a block.
type blockBuilder struct {
	oneDate bool
	lists   bool // the behaviours of a day are a list
	users   int

	shared, lengths, rest, records, days []byte

	raw []byte
}

// add adds a user, who sorts after the user before.
func (b *blockBuilder) add(before []byte, e *Entry, first behaviour.Date) {
	n := common(before, e.User)
	b.users++
	b.shared = binary.AppendUvarint(b.shared, uint64(n))
	b.lengths = binary.AppendUvarint(b.lengths, uint64(len(e.User)-n))
	b.rest = append(b.rest, e.User[n:]...)
	b.records = binary.AppendUvarint(b.records, uint64(e.Records))
	if b.oneDate {
		b.addKinds(e, 0)
		return
	}
	b.days = binary.AppendUvarint(b.days, uint64(len(e.Days)-1))
	next := first
	for i, d := range e.Days {
		b.days = binary.AppendUvarint(b.days, uint64(d.Date-next))
		b.addKinds(e, i)
		next = d.Date + 1
	}
}

// addKinds adds the behaviours of day i.
func (b *blockBuilder) addKinds(e *Entry, i int) {
	if !b.lists {
		b.days = binary.AppendUvarint(b.days, e.Days[i].word)
		return
	}
	kinds := e.sets[i]
	b.days = binary.AppendUvarint(b.days, uint64(kinds.Len()-1))
	next := 0
	for k := range kinds.Kinds() {
		b.days = binary.AppendUvarint(b.days, uint64(k-next))
		next = k + 1
	}
}

func (b *blockBuilder) size() int {
	return len(b.shared) + len(b.lengths) + len(b.rest) + len(b.records) + len(b.days)
}

// finish returns the raw block, valid until the next finish.
func (b *blockBuilder) finish() []byte {
	raw := binary.AppendUvarint(b.raw[:0], uint64(b.users))
	for _, column := range [][]byte{b.shared, b.lengths, b.rest, b.records} {
		raw = binary.AppendUvarint(raw, uint64(len(column)))
	}
	for _, column := range [][]byte{b.shared, b.lengths, b.rest, b.records, b.days} {
		raw = append(raw, column...)
	}
	b.raw = raw
	return raw
}

func (b *blockBuilder) reset() {
	b.users = 0
	b.shared, b.lengths, b.rest = b.shared[:0], b.lengths[:0], b.rest[:0]
	b.records, b.days = b.records[:0], b.days[:0]
}
