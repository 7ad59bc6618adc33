package memory

import (
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
