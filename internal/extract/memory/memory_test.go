package memory

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/trail"
)

// TestTheLargestTrailIsAsTheDocsSay compares the memory limit for the trail of one user with
// the table in docs/howto/operations.md, and with the memory that errors name.
func TestTheLargestTrailIsAsTheDocsSay(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/howto/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		name   string
		memory int64 // MiB
	}{{"128MiB, the least", Least >> 20}, {"256MiB", 256}, {"512MiB", 512}, {"1GiB, the default", 1 << 10}} {
		b := Budget{Bytes: m.memory << 20, Users: userlist.All()}
		if line := fmt.Sprintf("| %s | %d MiB |\n", m.name, b.user()>>20); !strings.Contains(string(docs), line) {
			t.Errorf("the docs do not have the line %q", line)
		}
	}
	for n := 20 << 20; n < trail.MaxData; n = n/2*3 + 12345 {
		for distinct := range 3 {
			b := Budget{Bytes: least(n, distinct, 0), Users: userlist.All(), Distinct: distinct}
			if got := b.user(); got < n || got > n+1 {
				t.Errorf("with %d distinct counts, %d bytes are enough for a trail of %d, want %d", distinct, b.Bytes, got, n)
			}
		}
	}
}

// TestManyColumnsTakeMemory divides a budget for results of many columns. The memory that the error names is enough.
func TestManyColumnsTakeMemory(t *testing.T) {
	divide := func(columns int, bytes int64) (Shares, error) {
		return Budget{Bytes: bytes, Users: userlist.All(), Workers: 8, Columns: columns, Fields: columns / 100, Sizes: Sizes{}.Full()}.Divide()
	}
	few, err := divide(10, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if many, err := divide(10_000, 1<<30); err != nil || many.Workers >= few.Workers {
		t.Errorf("10,000 columns: %d workers, %v; want fewer than the %d for ten columns", many.Workers, err, few.Workers)
	}
	if s, err := divide(4000, Least); err != nil || s.Workers != 1 {
		t.Errorf("4,000 columns in the least memory: %+v, %v", s, err)
	}
	_, err = divide(20_000, Least)
	if !errors.Is(err, ErrColumns) || !strings.Contains(err.Error(), "a result of 20000 columns needs more memory: raise --memory to 183MiB") {
		t.Fatalf("20,000 columns in the least memory: %v", err)
	}
	if s, err := divide(20_000, 183<<20); err != nil || s.Workers != 1 {
		t.Errorf("20,000 columns in the memory of the error: %+v, %v", s, err)
	}
}
