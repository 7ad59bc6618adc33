package files_test

import (
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
)

// TestReadsAreCounted reads a table and looks at its meter, also without its rolls.
func TestReadsAreCounted(t *testing.T) {
	store := files.Store{FS: local.New(), Dir: t.TempDir()}
	tabletest.Load(t, tabletest.Files, store)
	opened, err := store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	before, ok := table.SpentBy(opened)
	if !ok || before != (table.Spent{}) {
		t.Errorf("a table that nobody read has spent %+v, %t", before, ok)
	}
	q := table.Query{Ranges: func(yield func(split.Region) bool) { yield(split.Region{}) }, Span: table.Known(opened).Files[0].Span}
	cells := 0
	if err := opened.Read(t.Context(), q, func(*cell.Cell) error { cells++; return nil }); err != nil || cells == 0 {
		t.Fatalf("%d cells, %v", cells, err)
	}
	var size int64
	for _, f := range table.Known(opened).Files {
		info, err := store.FS.Stat(t.Context(), dfs.Join(store.Dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size
	}
	got, ok := table.SpentBy(table.Unrolled(opened))
	if !ok || got.Since(before).Calls == 0 || got.Bytes < size/2 || got.Bytes > 2*size {
		t.Errorf("reading files of %d bytes has spent %+v, %t", size, got, ok)
	}
}
