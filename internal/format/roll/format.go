package roll

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"usertrail/internal/behaviour"
)

const (
	// blockSize is the size at which a block is cut. A search in a larger block takes longer.
	// A smaller block compresses worse.
	blockSize = 4 << 10
	// maxRaw is larger than the block of one user with events on every possible day. It
	// limits the memory that a damaged file can make a reader allocate.
	maxRaw = 64 << 20

	crcLen     = 4
	trailerLen = 16
	// magic ends in the version.
	magic        = "UTROLL\x00"
	versionWord  = 1 // the behaviours of a day are a word
	versionLists = 2 // they are a list

	// mostInWord is the largest number of behaviour IDs of a file of version 1.
	mostInWord = 64
)

// version returns the version of a file with n behaviour IDs.
func version(n int) byte {
	if n > mostInWord {
		return versionLists
	}
	return versionWord
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// encoders is the number of blocks that are compressed at the same time. Each has tables of a third of
// a megabyte, and rolls are a small part of a load. Without a limit there would be tables for each processor.
const encoders = 2

// The coders are shared: EncodeAll and DecodeAll may be called at once, start
// no goroutines and keep no state from one call to the next. A window of one
// block keeps the encoder's tables small.
var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<17), zstd.WithEncoderConcurrency(encoders))
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxRaw), zstd.WithDecoderConcurrency(0))
	})
)

// footer holds the fields of the footer.
type footer struct {
	meta     Meta
	indexLen int
	indexCRC uint32
}

// appendFooter appends footer and trailer.
func appendFooter(dst []byte, f *footer) []byte {
	at := len(dst)
	dst = binary.AppendVarint(dst, int64(f.meta.Span.From))
	dst = binary.AppendUvarint(dst, uint64(f.meta.Span.Days()-1))
	dst = binary.AppendUvarint(dst, uint64(len(f.meta.IDs)))
	for _, id := range f.meta.IDs {
		dst = binary.AppendUvarint(dst, uint64(id))
	}
	dst = binary.AppendUvarint(dst, uint64(f.meta.Users))
	dst = binary.AppendUvarint(dst, uint64(f.meta.UserDays))
	dst = binary.AppendUvarint(dst, uint64(f.meta.Records))
	dst = binary.AppendUvarint(dst, uint64(f.indexLen))
	dst = binary.BigEndian.AppendUint32(dst, f.indexCRC)
	n, sum := len(dst)-at, checksum(dst[at:])
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	dst = binary.BigEndian.AppendUint32(dst, sum)
	return append(append(dst, magic...), version(len(f.meta.IDs)))
}

// parseFooter reads a footer without its trailer.
func parseFooter(b []byte) (*footer, error) {
	s := stream(b)
	f := &footer{}
	zigzag := s.number(math.MaxUint32)
	from := behaviour.Date(int64(zigzag>>1) ^ -int64(zigzag&1))
	f.meta.Span = behaviour.Span{From: from, To: from + behaviour.Date(s.number(uint64(behaviour.MaxDate-behaviour.MinDate)))}
	for n := s.number(behaviour.MaxKinds); n > 0; n-- {
		f.meta.IDs = append(f.meta.IDs, uint16(s.number(behaviour.MaxID)))
	}
	f.meta.Users = int64(s.number(math.MaxInt64))
	f.meta.UserDays = int64(s.number(math.MaxInt64))
	f.meta.Records = int64(s.number(math.MaxInt64))
	f.indexLen = int(s.number(math.MaxInt32))
	sum := s.bytes(crcLen)
	if s == nil || len(s) > 0 {
		return nil, fmt.Errorf("%w: footer of %d bytes", ErrCorrupt, len(b))
	}
	if err := checkHead(f.meta.IDs, f.meta.Span); err != nil {
		return nil, fmt.Errorf("%w: footer: %w", ErrCorrupt, err)
	}
	f.indexCRC = binary.BigEndian.Uint32(sum)
	return f, nil
}

// checkHead returns an error if a roll cannot have these behaviour IDs or this span.
func checkHead(ids []uint16, span behaviour.Span) error {
	if len(ids) > behaviour.MaxKinds {
		return fmt.Errorf("%d behaviours: at most %d", len(ids), behaviour.MaxKinds)
	}
	for i := 1; i < len(ids); i++ {
		if ids[i-1] >= ids[i] {
			return fmt.Errorf("behaviour IDs %d and %d are not ascending", ids[i-1], ids[i])
		}
	}
	if span.From > span.To || span.From < behaviour.MinDate || span.To > behaviour.MaxDate {
		return fmt.Errorf("span %d..%d is none", span.From, span.To)
	}
	return nil
}

// common returns the number of leading bytes that a and b share.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// follows reports whether the first shared bytes of before and then rest form a user that
// sorts after before and shares no more bytes with it.
func follows(before []byte, shared int, rest []byte) bool {
	return len(rest) > 0 && (shared == len(before) || shared < len(before) && rest[0] > before[shared])
}

// A stream holds the bytes that are still to be read. It becomes nil when a value is
// missing or too large; further reads return zero.
type stream []byte

// number reads an unsigned LEB128 number of at most limit.
func (s *stream) number(limit uint64) uint64 {
	v, ok := s.uvarint()
	if !ok || v > limit {
		*s = nil
		return 0
	}
	return v
}

// bytes reads n bytes.
func (s *stream) bytes(n uint64) []byte {
	if *s == nil || n > uint64(len(*s)) {
		*s = nil
		return nil
	}
	b := (*s)[:n:n]
	*s = (*s)[n:]
	return b
}

// uvarint is small enough to be inlined, because nearly all numbers are one byte.
func (s *stream) uvarint() (uint64, bool) {
	if b := *s; len(b) > 0 && b[0] < 0x80 {
		*s = b[1:]
		return uint64(b[0]), true
	}
	return s.long()
}

func (s *stream) long() (uint64, bool) {
	v, n := binary.Uvarint(*s)
	if n <= 0 {
		return 0, false
	}
	*s = (*s)[n:]
	return v, true
}

// skip skips n numbers.
func (s *stream) skip(n int) bool {
	b := *s
	i := 0
	for ; n > 0; n-- {
		for i < len(b) && b[i] >= 0x80 {
			i++
		}
		if i == len(b) {
			return false
		}
		i++
	}
	*s = b[i:]
	return true
}
