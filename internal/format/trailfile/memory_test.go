package trailfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// TestAGroupEndsByItsMemory writes rows of few strings and many numbers, in batches of different sizes. The row groups end
// by their memory, and the file is the same.
func TestAGroupEndsByItsMemory(t *testing.T) {
	var fields []behaviour.Field
	for i := range 20 {
		fields = append(fields, behaviour.Field{Name: fmt.Sprint("n", i), Type: behaviour.Int64})
	}
	s := trailfile.Long([]string{"login", "order", "play", "visit"}, 0, fields)
	rows := people(7, s, 20_000, 0.3)
	var want []byte
	for _, batch := range []int{1, 100, 7000} {
		data, meta := write(t, s, trailfile.Options{GroupMemory: 1 << 20}, rows, batch)
		if meta.Groups != 3 { // of at most 7,863 rows, which is 3 * 2,621
			t.Errorf("batches of %d rows: %d row groups, want 3", batch, meta.Groups)
		}
		if want == nil {
			want = data
		} else if !bytes.Equal(data, want) {
			t.Errorf("batches of %d rows make another file", batch)
		}
	}
	if _, meta := write(t, s, trailfile.Options{}, rows, 7000); meta.Groups != 1 {
		t.Errorf("%d row groups without a limit, want 1", meta.Groups)
	}
}

// TestAPageOfIDsMustFitIntoMemory reads the users of a file with as much memory as its largest page needs, and with less.
func TestAPageOfIDsMustFitIntoMemory(t *testing.T) {
	s := trailfile.Long([]string{"login", "order", "play", "visit"}, 0, nil)
	data, _ := write(t, s, trailfile.Options{Codec: trailfile.None}, people(1, s, 500, 0), 500)
	f, err := trailfile.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(most int64) (n int, err error) {
		err = f.IDs("user_id", most, func([]byte) error { n++; return nil })
		return n, err
	}
	if n, err := read(math.MaxInt64); err != nil || n != 500 {
		t.Fatalf("%d users, %v", n, err)
	}
	if n, err := read(int64(len(data))); err != nil || n != 500 {
		t.Errorf("with the memory of the whole file: %d users, %v", n, err)
	}
	if n, err := read(10); !errors.Is(err, trailfile.ErrLargePage) || n > 0 || !strings.Contains(err.Error(), "and 10 B fit") {
		t.Errorf("with 10 bytes: %d users, %v; want ErrLargePage", n, err)
	}
}
