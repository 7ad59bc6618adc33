package hfile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
)

func TestCodecsRestoreTheBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, codec := range allCodecs {
		compress, err := newCompressor(codec)
		if err != nil {
			t.Fatal(err)
		}
		ordinal, _ := codec.ordinal()
		read, err := codecOf(ordinal)
		if err != nil {
			t.Fatal(err)
		}
		dec := decompressor{codec: read}
		for _, n := range []int{0, 1, 14, 15, 16, 269, 270, 1000, maxChunk, maxChunk + 1, 5*maxChunk - 3} {
			for _, random := range []bool{false, true} {
				payload := make([]byte, n)
				if random {
					for i := range payload {
						payload[i] = byte(rnd.Uint32())
					}
				}
				stored, err := compress([]byte("before"), payload)
				if err != nil {
					t.Fatalf("%s, %d bytes: %v", codec, n, err)
				}
				if !bytes.HasPrefix(stored, []byte("before")) {
					t.Fatalf("%s overwrote what was there", codec)
				}
				got, err := dec.decompress(nil, stored[6:], n)
				if err != nil || !bytes.Equal(got, payload) {
					t.Errorf("%s, %d bytes, random %t: %v", codec, n, random, err)
				}
				if codec != Plain && n > 0 {
					if _, err := dec.decompress(nil, stored[6:], n-1); err == nil {
						t.Errorf("%s, %d bytes: read as %d", codec, n, n-1)
					}
					if _, err := dec.decompress(nil, stored[6:], n+1); err == nil {
						t.Errorf("%s, %d bytes: read as %d", codec, n, n+1)
					}
				}
			}
		}
	}
}

// TestChunksAreSmall walks the framing, because a larger chunk would overrun a server's
// buffer.
func TestChunksAreSmall(t *testing.T) {
	for _, codec := range []Codec{Snappy, LZ4, ZSTD} {
		compress, err := newCompressor(codec)
		if err != nil {
			t.Fatal(err)
		}
		b, err := compress(nil, make([]byte, 3*maxChunk+1))
		if err != nil {
			t.Fatal(err)
		}
		groups := 0
		for ; len(b) > 0; groups++ {
			group, chunk := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
			if group > 128<<10 || int(chunk) > len(b)-8 {
				t.Fatalf("%s: a group of %d bytes in a chunk of %d", codec, group, chunk)
			}
			b = b[8+chunk:]
		}
		if groups != 4 {
			t.Errorf("%s: %d groups", codec, groups)
		}
	}
}

func TestKnownFraming(t *testing.T) {
	chunk := func(src string) []byte {
		b, err := appendSnappy(nil, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	length := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	dec := decompressor{codec: Snappy}
	for name, stored := range map[string][]byte{
		"one group":           bytes.Join([][]byte{length(6), chunk("abcdef")}, nil),
		"zero at the end":     bytes.Join([][]byte{length(6), chunk("abcdef"), length(0)}, nil),
		"two chunks":          bytes.Join([][]byte{length(6), chunk("abc"), chunk("def"), length(0)}, nil),
		"two groups":          bytes.Join([][]byte{length(2), chunk("ab"), length(4), chunk("cdef")}, nil),
		"two groups and zero": bytes.Join([][]byte{length(2), chunk("ab"), length(4), chunk("cdef"), length(0)}, nil),
	} {
		if got, err := dec.decompress(nil, stored, 6); err != nil || string(got) != "abcdef" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, stored := range map[string][]byte{
		"nothing":             {},
		"a group too long":    bytes.Join([][]byte{length(7), chunk("abcdefg")}, nil),
		"a chunk too long":    bytes.Join([][]byte{length(3), chunk("abcdef")}, nil),
		"an empty group":      bytes.Join([][]byte{length(0), length(6), chunk("abcdef")}, nil),
		"an empty chunk":      bytes.Join([][]byte{length(6), chunk(""), chunk("abcdef")}, nil),
		"bytes at the end":    bytes.Join([][]byte{length(6), chunk("abcdef"), {1}}, nil),
		"a chunk cut short":   bytes.Join([][]byte{length(6), chunk("abcdef")[:8]}, nil),
		"a length that lies":  bytes.Join([][]byte{length(6), length(1 << 31), chunk("abcdef")}, nil),
		"a group without end": bytes.Join([][]byte{length(6), chunk("abc")}, nil),
	} {
		if got, err := dec.decompress(nil, stored, 6); err == nil {
			t.Errorf("%s was read as %q", name, got)
		}
	}
	for _, codec := range []Codec{Snappy, LZ4, ZSTD} {
		compress, err := newCompressor(codec)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := compress(nil, nil); err != nil || !bytes.Equal(b, length(0)) {
			t.Errorf("%s: nothing is stored as %x, %v", codec, b, err)
		}
	}
}

// TestClaimsAreNotBelieved checks that an impossible length is an error before anything is
// allocated for it.
func TestClaimsAreNotBelieved(t *testing.T) {
	for _, codec := range []Codec{Plain, GZ, Snappy, LZ4, ZSTD} {
		dec := decompressor{codec: codec}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := dec.decompress(nil, make([]byte, 20), 1<<30); err == nil {
			t.Errorf("%s made a gigabyte of 20 bytes", codec)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s allocated %d bytes", codec, n)
		}
	}
}
