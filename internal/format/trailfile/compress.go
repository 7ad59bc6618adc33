package trailfile

import (
	"fmt"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// A compressor compresses each page separately.
type compressor struct {
	codec Codec
	zstd  *zstd.Encoder
}

func newCompressor(c Codec) (*compressor, error) {
	if c != Zstd {
		return &compressor{codec: c}, nil
	}
	// EncodeAll needs only one encoder here, and pages have their own checksums. Pages are
	// small, so a small window costs no time.
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("trailfile: zstd: %w", err)
	}
	return &compressor{codec: c, zstd: enc}, nil
}

func (c *compressor) format() format.CompressionCodec {
	switch c.codec {
	case Zstd:
		return format.Zstd
	case Snappy:
		return format.Snappy
	}
	return format.Uncompressed
}

// compress returns src compressed, in the memory of buf if the result fits. With None it
// returns src.
func (c *compressor) compress(buf, src []byte) []byte {
	switch c.codec {
	case Zstd:
		return c.zstd.EncodeAll(src, buf[:0])
	case Snappy:
		if n := s2.MaxEncodedLen(len(src)); cap(buf) < n {
			buf = make([]byte, n)
		}
		return s2.EncodeSnappy(buf[:cap(buf)], src)
	}
	return src
}
