package hfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxChunk is the largest number of bytes that one chunk of Hadoop's framing encodes. Servers
// decode a chunk into a buffer of twice this size without checking its end.
const maxChunk = 128 << 10

// A compressor appends the stored form of a payload to dst.
type compressor func(dst, payload []byte) ([]byte, error)

// newCompressor returns the compressor of a codec. It keeps buffers, so each
// writer has its own.
func newCompressor(c Codec) (compressor, error) {
	switch c {
	case Plain:
		return func(dst, payload []byte) ([]byte, error) { return append(dst, payload...), nil }, nil
	case GZ:
		return newGzip()
	case Snappy:
		return framed(appendSnappy), nil
	case LZ4:
		return framed(newLZ4()), nil
	case ZSTD, ZSTDPlain:
		enc, err := zstdEncoder()
		if err != nil {
			return nil, fmt.Errorf("hfile: zstd: %w", err)
		}
		appendFrame := func(dst, src []byte) ([]byte, error) { return enc.EncodeAll(src, dst), nil }
		if c == ZSTDPlain {
			return appendFrame, nil
		}
		return framed(appendFrame), nil
	}
	return nil, fmt.Errorf("hfile: codec %q: %w", c, ErrUnsupported)
}

// framed adds Hadoop's framing: a payload of more than maxChunk bytes becomes several groups
// of one chunk each.
func framed(chunk compressor) compressor {
	return func(dst, payload []byte) ([]byte, error) {
		if len(payload) == 0 {
			return binary.BigEndian.AppendUint32(dst, 0), nil
		}
		for part := range slices.Chunk(payload, maxChunk) {
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(part)))
			at := len(dst)
			dst = append(dst, 0, 0, 0, 0)
			var err error
			if dst, err = chunk(dst, part); err != nil {
				return nil, err
			}
			binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		}
		return dst, nil
	}
}

func appendSnappy(dst, src []byte) ([]byte, error) {
	n := s2.MaxEncodedLen(len(src))
	dst = slices.Grow(dst, n)
	at := len(dst)
	return dst[:at+len(s2.EncodeSnappy(dst[at:at+n], src))], nil
}

func newLZ4() compressor {
	var c lz4.Compressor
	return func(dst, src []byte) ([]byte, error) {
		room := lz4.CompressBlockBound(len(src))
		dst = slices.Grow(dst, room)
		at := len(dst)
		n, err := c.CompressBlock(src, dst[at:at+room])
		if err != nil {
			return nil, fmt.Errorf("hfile: lz4: %w", err)
		}
		if n == 0 {
			return appendLZ4Literals(dst, src), nil
		}
		return dst[:at+n], nil
	}
}

// appendLZ4Literals appends an LZ4 block that stores src as literals. The library writes no
// block if it would be longer than src, and HBase has no other way to store it.
func appendLZ4Literals(dst, src []byte) []byte {
	n := len(src)
	if n < 15 {
		return append(append(dst, byte(n<<4)), src...)
	}
	dst = append(dst, 15<<4)
	for n -= 15; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(append(dst, byte(n)), src...)
}

func newGzip() (compressor, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, 6)
	if err != nil {
		return nil, fmt.Errorf("hfile: gzip: %w", err)
	}
	return func(dst, payload []byte) ([]byte, error) {
		out.Reset()
		w.Reset(&out)
		if _, err := w.Write(payload); err != nil {
			return nil, fmt.Errorf("hfile: gzip: %w", err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("hfile: gzip: %w", err)
		}
		return append(dst, out.Bytes()...), nil
	}, nil
}

// zstdEncoder is shared by all writers, because its tables are large and many goroutines may
// call EncodeAll. Frames have no checksum: HBase's frames have none, and blocks have their
// own.
var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
})
