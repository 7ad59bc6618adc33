package hfile

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/cell"
)

// TestDrawing writes the cells of testdata/blocks and draws the files.
//
//	draw [codec=] [encoding=] [bloom=] [block=] [chunk=] [short] [groups] [bytes]
//	row qualifier time value
//
// Without codec it is NONE. With bytes each payload follows its block.
func TestDrawing(t *testing.T) {
	datadriven.RunTest(t, "testdata/blocks", func(t *testing.T, d *datadriven.TestData) string {
		opt, withBytes := drawOptions(t, d)
		var cells []cell.Cell
		for line := range strings.Lines(d.Input) {
			cells = append(cells, drawnCell(t, line))
		}
		var buf bytes.Buffer
		w, err := NewWriter(&buf, opt)
		if err != nil {
			return err.Error()
		}
		for i := range cells {
			if err := w.Add(&cells[i]); err != nil {
				return err.Error()
			}
		}
		if _, err := w.Close(); err != nil {
			return err.Error()
		}
		return draw(t, open(t, buf.Bytes()), withBytes)
	})
}

func drawOptions(t *testing.T, d *datadriven.TestData) (opt Options, withBytes bool) {
	opt.Codec, opt.indexMinEntries = Plain, 2
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "codec":
			opt.Codec = Codec(arg.Vals[0])
		case "encoding":
			opt.Encoding = Encoding(arg.Vals[0])
		case "bloom":
			opt.Bloom, opt.BloomPrefix = BloomType(arg.Vals[0]), 2
		case "block":
			d.ScanArgs(t, "block", &opt.BlockSize)
		case "chunk":
			d.ScanArgs(t, "chunk", &opt.IndexChunk)
		case "short":
			opt.ShortIndexKeys = true
		case "groups":
			opt.GroupLen = groupOf
		case "bytes":
			withBytes = true
		default:
			t.Fatalf("%s: what is %s?", d.Pos, arg.Key)
		}
	}
	return opt, withBytes
}

func drawnCell(t *testing.T, line string) cell.Cell {
	parts := strings.Fields(line)
	if len(parts) != 4 {
		t.Fatalf("not a cell: %q", line)
	}
	at, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return cell.Cell{Row: []byte(parts[0]), Family: []byte("f"), Qualifier: []byte(parts[1]), Time: at, Type: cell.Put, Value: []byte(parts[3])}
}

// draw returns a line for each block, followed by lines for its content.
func draw(t *testing.T, r *Reader, withBytes bool) string {
	var out strings.Builder
	for b, err := range r.Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%5d %s %d bytes, payload %d of %d, previous %d\n", b.Offset, b.Type, b.Size, b.Stored, b.Uncompressed, b.Previous)
		if withBytes {
			for line := range strings.Lines(hex.Dump(b.Payload)) {
				fmt.Fprintf(&out, "        %s", line[4:])
			}
		}
		drawPayload(t, &out, r, &b)
	}
	x := r.Trailer()
	fmt.Fprintf(&out, "%5d trailer: %d cells, %d levels of index from %d, data %d to %d, codec %s\n",
		r.size-trailerLen, x.Cells, x.Levels, x.LoadOnOpen, x.FirstData, x.LastData, x.Codec)
	if err := r.Verify(nil); err != nil {
		t.Error(err)
	}
	return out.String()
}

func drawPayload(t *testing.T, out *strings.Builder, r *Reader, b *Block) {
	var x node
	switch {
	case b.Type.data():
		fmt.Fprintf(out, "        %d cells from %s\n", b.Cells, b.FirstRow)
		return
	case b.Type == LeafIndex || b.Type == IntermediateIndex:
		if err := x.parse(b.Payload); err != nil {
			t.Fatal(err)
		}
	case b.Type == RootIndex && b.Offset == r.trailer.LoadOnOpen:
		x = r.root
		defer func() {
			if len(r.middle) > 0 {
				fmt.Fprintf(out, "        middle %x\n", r.middle)
			}
		}()
	case b.Type == BloomChunk:
		fmt.Fprintf(out, "        %x\n", b.Payload)
	}
	for i := range x.n {
		var c cell.Cell
		if err := parseKey(&c, x.key(i)); err != nil {
			t.Fatal(err)
		}
		offset, size := x.place(i)
		fmt.Fprintf(out, "        %q:%q -> %d, %d bytes\n", c.Row, c.Qualifier, offset, size)
	}
}
