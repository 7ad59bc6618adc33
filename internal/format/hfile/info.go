package hfile

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/cell"
	"usertrail/internal/store/protofield"
)

// infoMagic begins file info.
const infoMagic = "PBUF"

// facts are the properties of the cells that file info, the trailer and Meta record.
type facts struct {
	cells     int64
	keyBytes  int64
	valBytes  int64
	minTime   int64
	maxTime   int64
	firstPut  int64 // smallest time of a Put
	maxTags   int
	maxMVCC   uint64
	deletes   bool  // of a column or family; they delete back to time 0
	famDelete int64 // deletions of a family

	firstRow   []byte
	blocks     int64
	firstBlock int64
	lastBlock  int64
}

func (x *facts) add(f *follower) {
	if x.cells == 0 {
		*x = facts{minTime: f.Time, maxTime: f.Time, firstPut: math.MaxInt64}
		x.firstRow = append(x.firstRow, f.Row...)
	}
	x.cells++
	x.keyBytes += int64(f.keyLen)
	x.valBytes += int64(len(f.Value))
	x.minTime = min(x.minTime, f.Time)
	x.maxTime = max(x.maxTime, f.Time)
	x.maxTags = max(x.maxTags, len(f.Tags))
	x.maxMVCC = max(x.maxMVCC, f.mvcc)
	switch f.Type {
	case cell.Put:
		x.firstPut = min(x.firstPut, f.Time)
	case cell.DeleteFamily, cell.DeleteFamilyVersion:
		x.famDelete++
		x.deletes = true
	case cell.DeleteColumn:
		x.deletes = true
	}
}

func (x *facts) closeBlock(at int64) {
	if x.blocks == 0 {
		x.firstBlock = at
	}
	x.blocks++
	x.lastBlock = at
}

// info returns the entries of file info that a finished file has.
func (w *Writer) info() map[string][]byte {
	x, o := &w.facts, &w.opt
	info := maps.Clone(o.Info)
	if info == nil {
		info = map[string][]byte{}
	}
	n := max(x.cells, 1)
	info[infoAvgKeyLen] = be32(x.keyBytes / n)
	info[infoAvgValueLen] = be32(x.valBytes / n)
	info[infoCreated] = be64(o.Created)
	info[infoKeyValue] = be32(1)
	info[infoMaxMVCC] = be64(int64(x.maxMVCC))
	if x.cells > 0 {
		info[infoLastKey] = appendKey(nil, &w.last)
	}
	if o.Encoding != NoEncoding {
		info[infoEncoding] = []byte(o.Encoding)
	}
	if o.Tags {
		info[infoMaxTagsLen] = be32(int64(x.maxTags))
		info[infoTagsCompress] = []byte{0}
	}
	if w.bloom != nil {
		w.bloom.describe(info)
	}
	if !o.unmarked {
		x.mark(info, o.Created)
	}
	return info
}

// mark adds the entries that mark a file for bulk loading, and the entries that let servers
// skip the file without opening or searching it.
func (x *facts) mark(info map[string][]byte, created int64) {
	info[infoBulkTime] = be64(created)
	info[infoMajor] = []byte{0xff}
	info[infoNotMinor] = []byte{0}
	info[infoDeleteFamily] = be64(x.famDelete)
	if x.cells == 0 {
		return
	}
	from := x.minTime
	if x.deletes {
		from = min(from, 0)
	}
	info[infoTimeRange] = binary.BigEndian.AppendUint64(be64(from), uint64(x.maxTime))
	info[infoEarliestPut] = be64(x.firstPut)
}

func be32(v int64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
func be64(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// appendInfo appends the payload of file info.
func appendInfo(dst []byte, info map[string][]byte) []byte {
	var msg, entry []byte
	for _, name := range slices.Sorted(maps.Keys(info)) {
		entry = protowire.AppendTag(entry[:0], 1, protowire.BytesType)
		entry = protowire.AppendString(entry, name)
		entry = protowire.AppendTag(entry, 2, protowire.BytesType)
		entry = protowire.AppendBytes(entry, info[name])
		msg = protowire.AppendTag(msg, 1, protowire.BytesType)
		msg = protowire.AppendBytes(msg, entry)
	}
	return protowire.AppendBytes(append(dst, infoMagic...), msg)
}

// parseInfo is the inverse of appendInfo. It keeps no reference to b.
func parseInfo(b []byte) (map[string][]byte, error) {
	if len(b) < len(infoMagic) || string(b[:len(infoMagic)]) != infoMagic {
		return nil, fmt.Errorf("file info begins with %.8q, not %s", b, infoMagic)
	}
	msg, n := protowire.ConsumeBytes(b[len(infoMagic):])
	if n < 0 {
		return nil, fmt.Errorf("file info: %w", protowire.ParseError(n))
	}
	info := map[string][]byte{}
	for f, err := range protofield.All(msg) {
		if err != nil {
			return nil, fmt.Errorf("file info: %w", err)
		}
		if f.Num != 1 {
			continue
		}
		name, value, err := parseInfoEntry(f.Bytes)
		if err != nil {
			return nil, fmt.Errorf("file info: %w", err)
		}
		info[name] = value
	}
	return info, nil
}

// parseInfoEntry parses one entry of file info, a BytesBytesPair.
func parseInfoEntry(entry []byte) (name string, value []byte, err error) {
	for f, err := range protofield.All(entry) {
		if err != nil {
			return "", nil, err
		}
		switch f.Num {
		case 1:
			name = string(f.Bytes)
		case 2:
			value = slices.Clone(f.Bytes)
		}
	}
	return name, value, nil
}
