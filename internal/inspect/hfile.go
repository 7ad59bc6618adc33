package inspect

import (
	"context"
	"fmt"

	"usertrail/internal/format/hfile"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// An HFile is a sorted file of cells.
type HFile struct {
	Table string `json:"table,omitempty"` // the table that contains it
	Note  string `json:"note,omitempty"`  // why less is known than possible

	Cells    int64           `json:"cells"`
	Codec    hfile.Codec     `json:"codec"`
	Encoding hfile.Encoding  `json:"encoding"`
	Bloom    hfile.BloomType `json:"bloom"`
	FirstRow manifest.Key    `json:"first_row"`
	LastRow  manifest.Key    `json:"last_row"`

	Trailer Trailer     `json:"trailer"`
	Info    []InfoEntry `json:"info"` // sorted by name
	Types   []BlockType `json:"block_types"`
	Blocks  []Block     `json:"blocks"` // the first
	Head    []Cell      `json:"head"`   // the first cells
}

// A Trailer holds the places of an HFile's parts according to its trailer.
type Trailer struct {
	FileInfo          int64  `json:"file_info"` // offset
	LoadOnOpen        int64  `json:"load_on_open"`
	FirstData         int64  `json:"first_data"`
	LastData          int64  `json:"last_data"`
	IndexLevels       int    `json:"index_levels"`
	RootEntries       int    `json:"root_entries"`
	IndexBytes        int64  `json:"index_bytes"` // uncompressed
	MetaEntries       int    `json:"meta_entries"`
	UncompressedBytes int64  `json:"uncompressed_bytes"`
	Comparator        string `json:"comparator"`
}

// A BlockType sums up all blocks of one type.
type BlockType struct {
	Type         hfile.BlockType `json:"type"`
	Blocks       int             `json:"blocks"`
	Size         int64           `json:"size"` // bytes in the file, headers and checksums included
	Stored       int64           `json:"stored"`
	Uncompressed int64           `json:"uncompressed"`
	Cells        int64           `json:"cells"`
}

// A Block is one block of an HFile.
type Block struct {
	Offset       int64           `json:"offset"`
	Type         hfile.BlockType `json:"type"`
	Size         int             `json:"size"`
	Stored       int             `json:"stored"`
	Uncompressed int             `json:"uncompressed"`
	Previous     int64           `json:"previous"` // offset of the previous block of its kind, or -1
	Cells        int             `json:"cells"`
	FirstKey     string          `json:"first_key,omitempty"`
}

// hfile reports the HFile f. It reads and checks the whole file.
func (l *look) hfile(r *Report, f dfs.File) error {
	rd, err := hfile.Open(f, f.Size())
	if err != nil {
		return err
	}
	owner, note, err := l.owner()
	if err != nil {
		return err
	}
	t := rd.Trailer()
	h := &HFile{
		Table: owner.dir, Note: note,
		Cells: rd.Cells(), Codec: t.Codec, Encoding: rd.Encoding(), Bloom: rd.Bloom(),
		FirstRow: rd.FirstRow(), LastRow: rd.LastRow(),
		Trailer: newTrailer(&t), Info: infoEntries(rd.Info()),
	}
	if err := h.addBlocks(l.ctx, rd, l.rows); err != nil {
		return err
	}
	h.Head, err = headCells(rd, newReading(owner), l.rows)
	r.HFile = h
	return err
}

func newTrailer(t *hfile.Trailer) Trailer {
	return Trailer{
		FileInfo: t.FileInfo, LoadOnOpen: t.LoadOnOpen, FirstData: t.FirstData, LastData: t.LastData,
		IndexLevels: t.Levels, RootEntries: t.RootEntries, IndexBytes: t.IndexBytes, MetaEntries: t.MetaEntries,
		UncompressedBytes: t.UncompressedBytes, Comparator: t.Comparator,
	}
}

// addBlocks reads all blocks and lists the first ones.
func (h *HFile) addBlocks(ctx context.Context, rd *hfile.Reader, rows int) error {
	h.Types, h.Blocks = []BlockType{}, []Block{}
	for b, err := range rd.Blocks() {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		h.blockType(b.Type).add(&b)
		if len(h.Blocks) < rows {
			h.Blocks = append(h.Blocks, newBlock(&b))
		}
	}
	return nil
}

// blockType returns the sums of the blocks of a type. There are only a few types.
func (h *HFile) blockType(t hfile.BlockType) *BlockType {
	for i := range h.Types {
		if h.Types[i].Type == t {
			return &h.Types[i]
		}
	}
	h.Types = append(h.Types, BlockType{Type: t})
	return &h.Types[len(h.Types)-1]
}

func (t *BlockType) add(b *hfile.Block) {
	t.Blocks++
	t.Size += int64(b.Size)
	t.Stored += int64(b.Stored)
	t.Uncompressed += int64(b.Uncompressed)
	t.Cells += int64(b.Cells)
}

func newBlock(b *hfile.Block) Block {
	out := Block{
		Offset: b.Offset, Type: b.Type, Size: b.Size, Stored: b.Stored, Uncompressed: b.Uncompressed,
		Previous: b.Previous, Cells: b.Cells,
	}
	if b.FirstKey != nil {
		out.FirstKey = infoText(lastKey, b.FirstKey)
	}
	return out
}

func (h *HFile) text(p *page) {
	t := &h.Trailer
	p.facts(
		fact{"table", h.Table},
		fact{"note", h.Note},
		fact{"cells", count(h.Cells)},
		fact{"codec", string(h.Codec)},
		fact{"encoding", string(h.Encoding)},
		fact{"Bloom filter", string(h.Bloom)},
		fact{"first row", short(valueText(h.FirstRow))},
		fact{"last row", short(valueText(h.LastRow))},
		fact{"index", fmt.Sprintf("%s in %s", levels(t.IndexLevels), size(t.IndexBytes))},
		fact{"uncompressed", size(t.UncompressedBytes)},
		fact{"comparator", t.Comparator},
	)
	p.grid("trailer", trailerGrid(t))
	g := newGrid("name", "value")
	for _, e := range h.Info {
		g.add(e.Name, cut(e.Value, maxWide))
	}
	p.grid("file info", g)
	p.grid("blocks by type", h.typeGrid())
	p.list("blocks", h.blockGrid(), h.blocks())
	h.cellText(p)
}

func levels(n int) string {
	if n == 1 {
		return "1 level"
	}
	return fmt.Sprintf("%d levels", n)
}

func trailerGrid(t *Trailer) *grid {
	g := newGrid("entry", ">value")
	for _, e := range []struct {
		name  string
		value int64
	}{
		{"offset of file info", t.FileInfo},
		{"offset of load-on-open", t.LoadOnOpen},
		{"offset of the first data block", t.FirstData},
		{"offset of the last data block", t.LastData},
		{"bytes of the index", t.IndexBytes},
		{"bytes uncompressed", t.UncompressedBytes},
		{"levels of the index", int64(t.IndexLevels)},
		{"entries of its root", int64(t.RootEntries)},
		{"entries of the meta index", int64(t.MetaEntries)},
	} {
		g.add(e.name, fmt.Sprint(e.value))
	}
	return g
}

func (h *HFile) blocks() int {
	n := 0
	for _, t := range h.Types {
		n += t.Blocks
	}
	return n
}

func (h *HFile) typeGrid() *grid {
	g := newGrid("type", ">blocks", ">size", ">stored", ">uncompressed", ">ratio", ">cells")
	for _, t := range h.Types {
		g.add(string(t.Type), count(t.Blocks), size(t.Size), size(t.Stored), size(t.Uncompressed), ratio(t.Uncompressed, t.Stored), some(t.Cells))
	}
	return g
}

func (h *HFile) blockGrid() *grid {
	g := newGrid(">offset", "type", ">size", ">stored", ">uncompressed", ">cells", "first key")
	for _, b := range h.Blocks {
		g.add(fmt.Sprint(b.Offset), string(b.Type), fmt.Sprint(b.Size), fmt.Sprint(b.Stored), fmt.Sprint(b.Uncompressed), some(int64(b.Cells)), cut(b.FirstKey, maxWide))
	}
	return g
}

// some returns a count, or "" if it is 0.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return count(n)
}
