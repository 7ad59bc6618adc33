package output_test

import (
	"maps"
	"path/filepath"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/query"
	"usertrail/internal/test/testkit"
)

// TestPartsEndByTheirBytes extracts few behaviours with large values, with different numbers
// of workers. The result has several parts. Each has as many values as a part may have, and
// the values of one more user.
func TestPartsEndByTheirBytes(t *testing.T) {
	const users, each, size = 300, 10, 2 << 10
	h, q := extracttest.Large(t, users, each, size)
	var want map[string]string
	for _, workers := range []int{1, 3} {
		out := filepath.Join(testkit.Scratch(t), "out")
		r, err := h.Extract(t.Context(), q, extracttest.Turn{Name: "trails", Workers: workers, Output: query.Output{Format: query.CSV}}, out)
		if err != nil || r.Kept != users || r.Files < users*each*size/extracttest.SmallSizes.PartBytes {
			t.Fatalf("%+v, %v; want %d users in several files", r, err, users)
		}
		got := extracttest.Parts(t, h.FS, out)
		for name, text := range got {
			if len(text) > extracttest.SmallSizes.PartBytes+each*(size+100)+users*each*100 {
				t.Errorf("%s has %d bytes, want about %d", name, len(text), extracttest.SmallSizes.PartBytes)
			}
		}
		if want == nil {
			want = got
		} else if !maps.Equal(got, want) {
			t.Errorf("%d workers write other bytes", workers)
		}
	}
}
