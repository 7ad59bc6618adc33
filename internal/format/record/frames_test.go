package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

// TestFramesAreSeenAndPassedOn writes zstd files of random frames, and compares the windows that Grow gets with the options of the
// frames. The text is the text of the frames.
func TestFramesAreSeenAndPassedOn(t *testing.T) {
	for seed := range uint64(40) {
		dice := rand.New(rand.NewPCG(seed, 0))
		var file, text bytes.Buffer
		var want []int64
		most := int64(0)
		for range 1 + dice.IntN(6) {
			if dice.IntN(3) == 0 {
				file.Write(skippable(dice.IntN(3000)))
			}
			part := make([]byte, dice.IntN(400<<10))
			if dice.IntN(2) == 0 { // otherwise the blocks repeat one byte
				for i := range part {
					part[i] = byte(dice.IntN(1 + dice.IntN(256)))
				}
			}
			window := int64(1) << (10 + dice.IntN(12))
			options := []zstd.EOption{zstd.WithWindowSize(int(window)), zstd.WithEncoderCRC(dice.IntN(2) == 0), zstd.WithZeroFrames(true)}
			single := dice.IntN(3) == 0
			if single {
				options = append(options, zstd.WithSingleSegment(true))
			}
			w, err := zstd.NewWriter(nil, options...)
			if err != nil {
				t.Fatal(err)
			}
			frame := w.EncodeAll(part, nil)
			var h zstd.Header
			if err := h.Decode(frame); err != nil {
				t.Fatal(err)
			}
			if h.SingleSegment {
				window = int64(len(part))
			} else if single || int64(h.WindowSize) > window {
				t.Fatalf("seed %d: a frame with the window %d, want at most %d", seed, h.WindowSize, window)
			} else {
				window = int64(h.WindowSize)
			}
			if window > most {
				most = window
				want = append(want, window)
			}
			file.Write(frame)
			text.Write(part)
		}
		var got []int64
		in, free, err := decompress(iotest.OneByteReader(bytes.NewReader(file.Bytes())), "a.zst", 0, func(n int64) error {
			got = append(got, n)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(in)
		free()
		if err != nil || !bytes.Equal(unpacked, text.Bytes()) {
			t.Fatalf("seed %d: %d bytes of text, %v, want %d", seed, len(unpacked), err, text.Len())
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: windows %d, want %d", seed, got, want)
		}
		for n := range 40 { // cut short, the file has the same error as without frames
			cut := file.Bytes()[:n*file.Len()/40]
			_, plain := readZstd(cut, nil)
			_, watched := readZstd(cut, func(int64) error { return nil })
			if (plain == nil) != (watched == nil) || plain != nil && plain.Error() != watched.Error() {
				t.Errorf("seed %d: the first %d of %d bytes: %v, without frames %v", seed, len(cut), file.Len(), watched, plain)
			}
		}
	}
}

func readZstd(file []byte, grow Grow) ([]byte, error) {
	in, free, err := decompress(bytes.NewReader(file), "a.zst", 0, grow)
	if err != nil {
		return nil, err
	}
	defer free()
	return io.ReadAll(in)
}

// TestGrowEndsTheReading checks that the error of Grow is the error of the reader, and no damage.
func TestGrowEndsTheReading(t *testing.T) {
	data := windowed(t, manyPlays(30_000), 1<<18, 1<<20)
	full := errors.New("full")
	var got []int64
	r, err := OpenGrowing(bytes.NewReader(data), playFile("a.csv.zst"), plays(), func(window int64) error {
		if got = append(got, window); window > 1<<18 {
			return full
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for err == nil {
		_, err = r.Next(nil)
	}
	if !errors.Is(err, full) || errors.Is(err, ErrCompressed) || !slices.Equal(got, []int64{1 << 18, 1 << 20}) {
		t.Errorf("%v after windows of %d", err, got)
	}
}

// TestLongHeaders reads the longest header of a frame.
func TestLongHeaders(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	frame := w.EncodeAll([]byte(strings.Repeat("user\n", 100)), nil)
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		t.Fatal(err)
	}
	head := append([]byte(nil), frame[:4]...)
	head = append(head, 3<<6|frame[4]&4|3, 10<<3)    // a content size of 8 bytes, a dictionary ID of 4 bytes, and the checksum of the frame
	head = binary.LittleEndian.AppendUint32(head, 0) // no dictionary
	head = binary.LittleEndian.AppendUint64(head, 500)
	long := append(head, frame[h.HeaderSize:]...)
	var got []int64
	text, err := readZstd(append(long, windowed(t, "x", 1<<10)...), func(n int64) error {
		got = append(got, n)
		return nil
	})
	if err != nil || len(head) != frameHeader || len(text) != 501 || !slices.Equal(got, []int64{1 << 20}) {
		t.Errorf("%d bytes of text, windows %d, %v, from a header of %d bytes", len(text), got, err, len(head))
	}
}
