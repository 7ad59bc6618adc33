package hfile

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/protofield"
)

const (
	trailerLen   = 4096
	trailerMagic = "TRABLK\"$"

	versionAt = trailerLen - 4
	version   = 3<<24 | 3 // minor 3, major 3
)

// A Trailer is the last 4096 bytes of a file.
type Trailer struct {
	FileInfo          int64 // offset
	LoadOnOpen        int64 // offset of the data index's root
	IndexBytes        int64 // uncompressed, of the whole data index
	UncompressedBytes int64
	RootEntries       int
	MetaEntries       int
	Cells             int64
	Levels            int   // of the data index
	FirstData         int64 // offset of the first data block, -1 if there is none
	LastData          int64
	Comparator        string
	Codec             Codec

	codec     uint64
	encrypted bool
}

// appendTrailer appends all of t's 4096 bytes.
func appendTrailer(dst []byte, t *Trailer) []byte {
	var msg []byte
	number := func(num protowire.Number, v uint64) {
		msg = protowire.AppendTag(msg, num, protowire.VarintType)
		msg = protowire.AppendVarint(msg, v)
	}
	number(1, uint64(t.FileInfo))
	number(2, uint64(t.LoadOnOpen))
	number(3, uint64(t.IndexBytes))
	number(4, uint64(t.UncompressedBytes))
	number(5, uint64(t.RootEntries))
	number(6, uint64(t.MetaEntries))
	number(7, uint64(t.Cells))
	number(8, uint64(t.Levels))
	number(9, uint64(t.FirstData))
	number(10, uint64(t.LastData))
	msg = protowire.AppendTag(msg, 11, protowire.BytesType)
	msg = protowire.AppendString(msg, t.Comparator)
	number(12, t.codec)

	b := make([]byte, 0, trailerLen)
	b = protowire.AppendBytes(append(b, trailerMagic...), msg)
	b = b[:trailerLen]
	binary.BigEndian.PutUint32(b[versionAt:], version)
	return append(dst, b...)
}

// lastMajor is larger than every version of HFiles. A larger number is not a version.
const lastMajor = 99

// parseTrailer reads a trailer and checks it against the size of its file.
func parseTrailer(b []byte, size int64) (Trailer, error) {
	at := size - trailerLen
	if string(b[:len(trailerMagic)]) != trailerMagic {
		return Trailer{}, corrupt(at, "no trailer begins with %q", b[:len(trailerMagic)])
	}
	major, minor := binary.BigEndian.Uint32(b[versionAt:])&0xffffff, b[versionAt]
	if major > lastMajor {
		return Trailer{}, corrupt(at, "the version %d.%d, which no HFile has", major, minor)
	}
	if major != 3 && (major != 2 || minor < 3) {
		return Trailer{}, fmt.Errorf("hfile: version %d.%d: %w", major, minor, ErrUnsupported)
	}
	msg, n := protowire.ConsumeBytes(b[len(trailerMagic):versionAt])
	if n < 0 {
		return Trailer{}, corrupt(at, "trailer: %w", protowire.ParseError(n))
	}
	if rest := b[len(trailerMagic)+n : versionAt]; len(bytes.Trim(rest, "\x00")) > 0 {
		return Trailer{}, corrupt(at, "trailer: not only zeros after the message")
	}
	t, err := parseTrailerFields(msg)
	if err != nil {
		return t, corrupt(at, "trailer: %w", err)
	}
	if t.encrypted {
		return t, fmt.Errorf("hfile: the file is encrypted: %w", ErrUnsupported)
	}
	if t.Codec, err = codecOf(t.codec); err != nil {
		return t, err
	}
	return t, t.check(at)
}

func parseTrailerFields(msg []byte) (Trailer, error) {
	var t Trailer
	for f, err := range protofield.All(msg) {
		if err != nil {
			return t, err
		}
		switch v := f.Number; f.Num {
		case 1:
			t.FileInfo = int64(v)
		case 2:
			t.LoadOnOpen = int64(v)
		case 3:
			t.IndexBytes = int64(v)
		case 4:
			t.UncompressedBytes = int64(v)
		case 5:
			t.RootEntries = int(uint32(v))
		case 6:
			t.MetaEntries = int(uint32(v))
		case 7:
			t.Cells = int64(v)
		case 8:
			t.Levels = int(uint32(v))
		case 9:
			t.FirstData = int64(v)
		case 10:
			t.LastData = int64(v)
		case 11:
			t.Comparator = string(f.Bytes)
		case 12:
			t.codec = v
		case 13:
			t.encrypted = true
		}
	}
	return t, nil
}

// check checks that t's fields agree with each other and with the offset of the trailer.
func (t *Trailer) check(at int64) error {
	switch {
	case t.LoadOnOpen < 0 || t.LoadOnOpen > at:
		return corrupt(at, "trailer: load-on-open at %d", t.LoadOnOpen)
	case t.FileInfo < t.LoadOnOpen || t.FileInfo > at:
		return corrupt(at, "trailer: file info at %d", t.FileInfo)
	case t.Levels < 1 || t.Levels > maxLevels:
		return corrupt(at, "trailer: an index of %d levels", t.Levels)
	case t.Cells < 0 || (t.Cells == 0) != (t.RootEntries == 0):
		return corrupt(at, "trailer: %d cells, %d entries of the root", t.Cells, t.RootEntries)
	case t.Cells > 0 && (t.FirstData < 0 || t.FirstData > t.LastData || t.LastData >= t.LoadOnOpen):
		return corrupt(at, "trailer: data blocks from %d to %d", t.FirstData, t.LastData)
	}
	return t.checkOrder()
}

// checkOrder refuses the comparators of hbase:meta, whose cells are ordered differently.
func (t *Trailer) checkOrder() error {
	for _, other := range []string{"MetaComparator", "MetaCellComparator", "RawBytesComparator"} {
		if bytes.Contains([]byte(t.Comparator), []byte(other)) {
			return fmt.Errorf("hfile: comparator %s: %w", t.Comparator, ErrUnsupported)
		}
	}
	return nil
}
