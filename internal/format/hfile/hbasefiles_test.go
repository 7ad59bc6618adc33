package hfile_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
)

// A setting holds a family's attributes in HBase's form, and the optional parts of its cells.
type setting struct {
	name       string
	attributes map[string]string
	tags, mvcc bool
}

const indexChunk = 256 // so that the index has three levels

// options returns the setting for our writer.
func (s *setting) options(t *testing.T) hfile.Options {
	t.Helper()
	opt, err := hfile.ForFamily(s.attributes)
	if err != nil {
		t.Fatal(err)
	}
	opt.IndexChunk, opt.Tags, opt.MVCC = indexChunk, s.tags, s.mvcc
	return opt
}

// words returns the setting for StoreFiles.java.
func (s *setting) words() []string {
	words := []string{family, fmt.Sprintf("conf.hfile.index.block.max.size=%d", indexChunk)}
	if s.tags {
		words = append(words, "tags")
	}
	for _, name := range slices.Sorted(maps.Keys(s.attributes)) {
		words = append(words, name+"="+s.attributes[name])
	}
	return words
}

// cells returns all with the optional parts of the setting.
func (s *setting) cells(all []cell.Cell) []cell.Cell {
	all = slices.Clone(all)
	for i := range all {
		if s.tags && i%3 > 0 { // more different tags than HBase's dictionary holds
			all[i].Tags = []byte{0, 4, 100, 'a', byte(i % 5), byte(i % 31), 0, 2, 101, 'b'}
		}
		if s.mvcc {
			all[i].MVCC = uint64(i * i % 100_000)
		}
	}
	return all
}

var (
	codecs    = []string{"GZ", "SNAPPY", "LZ4", "ZSTD"}
	encodings = []string{"NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"}
	blooms    = []string{"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"}
)

// settings returns every encoding with every Bloom filter and with every codec, and with tags
// and write numbers.
func settings() []setting {
	var all []setting
	add := func(s setting, codec, encoding, bloom string) {
		s.attributes = map[string]string{
			"COMPRESSION": codec, "DATA_BLOCK_ENCODING": encoding, "BLOOMFILTER": bloom, "BLOCKSIZE": "2048",
			"RowPrefixBloomFilter.prefix_length": fmt.Sprint(prefixLen), "COMPRESS_TAGS": "false",
		}
		s.name = strings.Join([]string{codec, encoding, bloom}, "-") + s.name
		all = append(all, s)
	}
	for _, encoding := range encodings {
		for _, bloom := range blooms {
			add(setting{}, "NONE", encoding, bloom)
		}
		for _, codec := range codecs {
			add(setting{}, codec, encoding, "ROW")
		}
		add(setting{name: "-tags", tags: true, mvcc: true}, "NONE", encoding, "ROW")
	}
	return all
}

// writeFile makes a file and returns its bytes.
func writeFile(t *testing.T, path string, opt hfile.Options, cells []cell.Cell) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := hfile.NewWriter(&b, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		if err := w.Add(&cells[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	save(t, path, b.Bytes())
	return b.Bytes()
}

// A filePair is a file of ours and a file of HBase's writer with the same cells and the same
// settings, and the indexes of the responses about ours.
type filePair struct {
	setting
	cells        []cell.Cell
	ours         []byte
	theirs       string // path
	tagged       string // path of another file of theirs, with compressed tags; "" if there is none
	scan, print  int
	here, absent int // responses of gets for cells in the file, and of gets for absent cells; 0 if not requested
}

// TestFilesAreHBases writes the same cells as HBase's own writer, under all settings
// of a family, and has HBase read ours.
func TestFilesAreHBases(t *testing.T) {
	h := newHBase(t)
	dir := t.TempDir()
	all, none := world(), filepath.Join(dir, "absent")
	save(t, none, list(absent()))
	pairs := make([]filePair, len(settings()))
	for i, s := range settings() {
		pairs[i].setting, pairs[i].cells = s, s.cells(all)
		pairs[i].write(t, h, dir, none)
	}
	flipped := filepath.Join(dir, "flipped", family, "0c")
	save(t, flipped, flipChecksum(t, pairs[0].ours))
	complains := h.ask("scan", flipped)
	misnamed := filepath.Join(dir, "misnamed", "0d")
	save(t, misnamed, pairs[0].ours)
	warns := h.ask("print", misnamed)

	responses := h.responses()
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			p.sameAsTheirs(t)
			p.isRead(t, responses)
			if p.tagged != "" {
				p.readsTagged(t)
			}
			if p.here > 0 {
				p.opensForGets(t, responses)
			}
			if p.absent > 0 {
				p.sparesGets(t, responses)
			}
		})
	}
	for what, response := range map[string][]string{
		"a wrong checksum":             responses[complains],
		"a file not named as a family": responses[warns],
	} {
		if len(response) < 2 || !strings.Contains(strings.Join(response[1:], " "), "WARN") {
			t.Errorf("HBase says nothing of %s: %q", what, response)
		}
	}
}

// write writes the cells of p by our writer and by HBase's, and asks HBase about our file. The file called none has cells that are not in it.
func (p *filePair) write(t *testing.T, h *hbase, dir, none string) {
	t.Helper()
	at := filepath.Join(dir, p.name, family)
	// HBase opens only files whose names are hexadecimal.
	ours, cells := filepath.Join(at, "0a"), filepath.Join(at, "cells")
	p.theirs = filepath.Join(at, "0b")
	p.ours = writeFile(t, ours, p.options(t), p.cells)
	save(t, cells, list(p.cells))
	h.ask(append([]string{"write", cells, p.theirs}, p.words()...)...)
	p.scan = h.ask("scan", ours)
	p.print = h.ask("print", ours)
	if p.tags {
		p.tagged = filepath.Join(at, "0e")
		h.ask(append([]string{"write", cells, p.tagged}, append(p.words(), "COMPRESS_TAGS=true")...)...)
	}
	if p.attributes["DATA_BLOCK_ENCODING"] == "FAST_DIFF" { // once for each filter, which does not depend on the encoding
		p.here = h.ask("bloom", ours, cells)
	}
	if p.here > 0 && p.attributes["COMPRESSION"] == "NONE" {
		p.absent = h.ask("bloom", ours, none)
	}
}

// flipChecksum returns file with a bit of the second block's last checksum changed.
func flipChecksum(t *testing.T, file []byte) []byte {
	t.Helper()
	b := bytes.Clone(file)
	n := 0
	for block, err := range open(t, file).Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 2 {
			b[block.Offset+int64(block.Size)-1] ^= 1
			break
		}
	}
	return b
}

func open(t *testing.T, file []byte) *hfile.Reader {
	t.Helper()
	r, err := hfile.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// isRead checks that HBase's reader returns the cells, that its printer prints all of them,
// and that neither complains.
func (p *filePair) isRead(t *testing.T, responses [][]string) {
	if got, want := strings.Join(responses[p.scan], "\t"), counted(p.cells); got != want {
		t.Errorf("HBase reads %s, want %s", got, want)
	}
	if got, want := strings.Join(responses[p.print], "\t"), fmt.Sprint(len(p.cells)); got != want {
		t.Errorf("the printer says %s, want %s", got, want)
	}
}

// readsTagged checks that our reader returns the cells of HBase's file with compressed tags.
func (p *filePair) readsTagged(t *testing.T) {
	b, err := os.ReadFile(p.tagged)
	if err != nil {
		t.Fatal(err)
	}
	var got []cell.Cell
	err = open(t, b).Verify(func(c *cell.Cell) error {
		got = append(got, *c.Clone())
		return nil
	})
	if err != nil || counted(got) != counted(p.cells) {
		t.Errorf("HBase's file with compressed tags has %s, want %s; %v", counted(got), counted(p.cells), err)
	}
}

// opensForGets checks that every get for a cell of the file opens the file.
func (p *filePair) opensForGets(t *testing.T, responses [][]string) {
	if got, want := strings.Join(responses[p.here], "\t"), fmt.Sprint(len(p.cells)); got != want {
		t.Errorf("%s gets for cells of the file open it, want %s", got, want)
	}
}

// sparesGets checks that gets for absent rows open the file as rarely as its Bloom filter
// promises.
func (p *filePair) sparesGets(t *testing.T, responses [][]string) {
	asked := len(absent())
	opened, err := strconv.Atoi(strings.Join(responses[p.absent], "\t"))
	least, most := asked/200, asked/66 // for a filter with an error rate of 1%
	if p.attributes["BLOOMFILTER"] == "NONE" {
		least, most = asked, asked
	}
	if err != nil || opened < least || opened > most {
		t.Errorf("of %d gets for absent rows %q open the file, want %d to %d", asked, responses[p.absent], least, most)
	}
}
