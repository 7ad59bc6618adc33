package local_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"usertrail/internal/store/dfs/local"
)

// BenchmarkCreate measures a file from Create to Commit, including fsync.
func BenchmarkCreate(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20, 64 << 20} {
		for _, piece := range []int{4 << 10, 1 << 20} {
			if piece > size {
				continue
			}
			b.Run(fmt.Sprintf("bytes=%d/write=%d", size, piece), func(b *testing.B) {
				name := filepath.Join(b.TempDir(), "file")
				buf := make([]byte, piece)
				b.SetBytes(int64(size))
				for b.Loop() {
					create(b, name, buf, size/piece)
				}
			})
		}
	}
}

func create(b *testing.B, name string, buf []byte, times int) {
	p, err := local.New().Create(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Abort()
	for range times {
		if _, err := p.Write(buf); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Commit(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReadAt(b *testing.B) {
	name := filepath.Join(b.TempDir(), "file")
	create(b, name, make([]byte, 1<<20), 16)
	f, err := local.New().Open(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 16<<10)
	b.SetBytes(int64(len(buf)))
	for i := 0; b.Loop(); i++ {
		if _, err := f.ReadAt(buf, int64(i%1000)<<14); err != nil {
			b.Fatal(err)
		}
	}
}
