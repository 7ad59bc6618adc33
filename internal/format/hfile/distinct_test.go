package hfile

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"usertrail/internal/cell"
)

// TestRepeatedKeys writes two cells with one key. Options.Distinct and VerifyDistinct refuse the second one.
func TestRepeatedKeys(t *testing.T) {
	c := cell.Cell{Row: []byte("row"), Family: []byte("d"), Qualifier: []byte("q"), Time: 100, Type: cell.Put}
	const want = "cell 1 has the key of the cell before it: row 726f77, qualifier 71"
	var b bytes.Buffer
	w, err := NewWriter(&b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	distinct, err := NewWriter(io.Discard, Options{Distinct: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := w.Add(&c); err != nil {
			t.Fatal(err)
		}
		if err := distinct.Add(&c); i == 0 && err != nil || i == 1 && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("cell %d: %v, want %s", i, err, want)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(nil); err != nil {
		t.Errorf("in HBase's own files a key may be repeated: %v", err)
	}
	if err := r.VerifyDistinct(nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
