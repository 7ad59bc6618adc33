package hfile

import "bytes"

// Close finishes the file and returns its description. It does not close the underlying
// writer.
func (w *Writer) Close() (Meta, error) {
	if w.err != nil {
		return Meta{}, w.err
	}
	meta, err := w.finish()
	if err != nil {
		w.err = err
		return Meta{}, err
	}
	w.err = errClosed
	return meta, nil
}

func (w *Writer) finish() (Meta, error) {
	if err := w.finishScanned(); err != nil {
		return Meta{}, err
	}
	metaIndex, err := w.writeMetaBlocks()
	if err != nil {
		return Meta{}, err
	}
	t, err := w.writeLoadOnOpen(metaIndex)
	if err != nil {
		return Meta{}, err
	}
	if err := w.out.raw(appendTrailer(nil, t)); err != nil {
		return Meta{}, err
	}
	if err := w.out.flush(1); err != nil {
		return Meta{}, err
	}
	return Meta{
		Cells:    w.facts.cells,
		Blocks:   w.facts.blocks,
		Size:     w.out.written,
		FirstRow: w.facts.firstRow,
		LastRow:  bytes.Clone(w.last.Row),
	}, nil
}

// finishScanned ends the section that scans read: it writes the last data block, the last
// leaf and the last Bloom chunk.
func (w *Writer) finishScanned() error {
	if w.open {
		if err := w.closeBlock(); err != nil {
			return err
		}
	}
	if err := w.index.finishLeaves(); err != nil {
		return err
	}
	if w.bloom == nil {
		return nil
	}
	return w.bloom.finish()
}

// writeMetaBlocks writes named blocks and returns their index.
func (w *Writer) writeMetaBlocks() (*entries, error) {
	index := &entries{}
	for _, m := range w.opt.meta {
		at := w.out.offset()
		size, err := w.out.block(MetaBlock, m.payload)
		if err != nil {
			return nil, err
		}
		index.add(at, size, []byte(m.name))
	}
	return index, nil
}

// writeLoadOnOpen writes the roots, file info and the Bloom filter's meta, and
// returns the trailer that describes them.
func (w *Writer) writeLoadOnOpen(metaIndex *entries) (*Trailer, error) {
	codec, _ := w.opt.Codec.ordinal()
	t := &Trailer{FirstData: -1, LastData: -1, Comparator: w.opt.comparator, codec: codec}
	if w.facts.blocks > 0 {
		t.FirstData, t.LastData = w.facts.firstBlock, w.facts.lastBlock
	}
	// Intermediate blocks precede the root, so load-on-open begins at the last RootIndex
	// block of the data index.
	if err := w.index.writeRoot(); err != nil {
		return nil, err
	}
	t.LoadOnOpen = w.out.last[RootIndex]
	meta := metaIndex.appendRoot(nil)
	if _, err := w.out.block(RootIndex, meta); err != nil {
		return nil, err
	}
	w.out.uncompressed += headerLen + int64(len(meta))
	t.FileInfo = w.out.offset()
	if _, err := w.out.block(FileInfo, appendInfo(nil, w.info())); err != nil {
		return nil, err
	}
	if w.bloom != nil {
		if err := w.bloom.writeMeta(); err != nil {
			return nil, err
		}
	}
	t.IndexBytes = w.index.bytes
	t.UncompressedBytes = w.out.uncompressed + trailerLen
	t.RootEntries = w.index.root.len()
	t.MetaEntries = metaIndex.len()
	t.Cells = w.facts.cells
	t.Levels = w.index.levels
	return t, nil
}
