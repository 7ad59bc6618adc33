package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxPayload is the largest decompressed size that a block may claim. The largest blocks in
// practice are root indexes of some tens of megabytes.
const maxPayload = 512 << 20

// maxRatio returns the number of bytes that one stored byte can expand to, with room to
// spare. A payload that claims more is corrupt, and nothing is allocated for it.
func (c Codec) maxRatio() int {
	switch c {
	case Snappy:
		return 32 // 3 bytes copy 64
	case LZ4:
		return 256
	case GZ:
		return 1040 // 2 bits copy 258
	case ZSTD:
		return 1 << 16 // 4 bytes fill a block of 128 KiB
	}
	return 1
}

// A decompressor decodes the payloads of a codec. It keeps buffers, so only one goroutine may
// use it at a time.
type decompressor struct {
	codec Codec
	gz    *gzip.Reader
}

var (
	errTooShort = errors.New("the stored bytes end early")
	errTooLong  = errors.New("more bytes than the header says")
)

// decompress returns the payload of n bytes that stored holds. The payload is in buf or in a
// larger buffer. With codec NONE it is stored itself.
func (d *decompressor) decompress(buf, stored []byte, n int) ([]byte, error) {
	if d.codec == Plain {
		if len(stored) != n {
			return nil, fmt.Errorf("%d bytes stored, the header says %d", len(stored), n)
		}
		return stored, nil
	}
	if n > maxPayload || n > len(stored)*d.codec.maxRatio() {
		return nil, fmt.Errorf("%d bytes cannot become %d by %s", len(stored), n, d.codec)
	}
	dst := slices.Grow(buf[:0], n)[:n]
	switch d.codec {
	case GZ:
		return dst, d.gunzip(dst, stored)
	case Snappy:
		return dst, unframe(dst, stored, unsnappy)
	case LZ4:
		return dst, unframe(dst, stored, unLZ4)
	case ZSTD:
		if isFrame(stored) {
			return dst, whole(dst)(unzstd(dst, stored))
		}
		return dst, unframe(dst, stored, unzstd)
	}
	return nil, fmt.Errorf("codec %s: %w", d.codec, ErrUnsupported)
}

// zstdMagic begins a frame. As the length of a group it would be larger than any valid one.
const zstdMagic = 0x28b52ffd

// isFrame reports whether a payload stored by ZSTD is one frame, and not framed chunks.
func isFrame(stored []byte) bool {
	return len(stored) >= 4 && binary.BigEndian.Uint32(stored) == zstdMagic
}

// whole returns a function that receives the result of decoding into dst and checks that the
// output fills dst.
func whole(dst []byte) func(int, error) error {
	return func(n int, err error) error {
		if err == nil && n != len(dst) {
			err = fmt.Errorf("%d bytes, the header says %d", n, len(dst))
		}
		return err
	}
}

// unframe fills dst from Hadoop's groups of chunks. chunk decodes one chunk into the
// beginning of dst and returns the number of bytes that it decoded.
func unframe(dst, src []byte, chunk func(dst, src []byte) (int, error)) error {
	for len(dst) > 0 {
		group, rest, err := length(src)
		if err != nil {
			return err
		}
		if group == 0 || group > len(dst) {
			return fmt.Errorf("a group of %d bytes where %d are left", group, len(dst))
		}
		src = rest
		for group > 0 {
			n, rest, err := length(src)
			if err != nil {
				return err
			}
			if n > len(rest) {
				return fmt.Errorf("a chunk of %d bytes where %d are left: %w", n, len(rest), errTooShort)
			}
			got, err := chunk(dst[:group], rest[:n])
			if err != nil {
				return err
			}
			if got == 0 {
				return errors.New("an empty chunk")
			}
			group -= got
			dst, src = dst[got:], rest[n:]
		}
	}
	if zero, rest, err := length(src); err == nil && zero == 0 {
		src = rest
	}
	if len(src) > 0 {
		return fmt.Errorf("%d bytes after the last chunk", len(src))
	}
	return nil
}

func length(b []byte) (int, []byte, error) {
	if len(b) < 4 {
		return 0, nil, errTooShort
	}
	return int(binary.BigEndian.Uint32(b)), b[4:], nil
}

func unsnappy(dst, src []byte) (int, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return 0, fmt.Errorf("snappy: %w", err)
	}
	if n > len(dst) {
		return 0, fmt.Errorf("snappy: a chunk of %d bytes: %w", n, errTooLong)
	}
	if _, err := s2.Decode(dst[:n:n], src); err != nil {
		return 0, fmt.Errorf("snappy: %w", err)
	}
	return n, nil
}

func unLZ4(dst, src []byte) (int, error) {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return 0, fmt.Errorf("lz4: %w", err)
	}
	return n, nil
}

// unzstd decodes one frame. Its output cannot outgrow dst.
func unzstd(dst, src []byte) (int, error) {
	dec, err := zstdDecoder()
	if err != nil {
		return 0, fmt.Errorf("zstd: %w", err)
	}
	out, err := dec.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return 0, fmt.Errorf("zstd: %w", err)
	}
	return len(out), nil
}

// zstdDecoder is shared by all readers: DecodeAll may be called by many
// goroutines at once.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(maxPayload))
})

func (d *decompressor) gunzip(dst, stored []byte) error {
	src := bytes.NewReader(stored)
	var err error
	if d.gz == nil {
		d.gz, err = gzip.NewReader(src)
	} else {
		err = d.gz.Reset(src)
	}
	if err != nil {
		return fmt.Errorf("gzip: %w", err)
	}
	if _, err := io.ReadFull(d.gz, dst); err != nil {
		return fmt.Errorf("gzip: %w", err)
	}
	var more [1]byte
	if n, err := d.gz.Read(more[:]); n != 0 || err != io.EOF {
		return fmt.Errorf("gzip: %w", errors.Join(errTooLong, err))
	}
	return nil
}
