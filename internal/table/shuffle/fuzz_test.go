package shuffle

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzSort sorts rows that are cut out of arbitrary bytes. Rows with equal beginnings, short rows
// and rows with zeros are hard for a sort that compares eight bytes at a time.
func FuzzSort(f *testing.F) {
	f.Add([]byte("user1,20140901\nuser1,20140902\nuser1,2014\nuser2"), uint8('\n'), uint8(3))
	f.Add([]byte("\x00\x00|\x00|||\x00\x00\x00\x00\x00\x00\x00\x00\x00|\x00\x00\x00\x00\x00\x00\x00\x00"), uint8('|'), uint8(20))
	f.Add([]byte(strings.Repeat("same-row;same-row\x00;same-row-goes-on;", 9)), uint8(';'), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, separator, copies uint8) {
		var records []sample
		for i, row := range bytes.Split(text, []byte{separator}) {
			for c := range int(copies%32) + 1 {
				r := sample{row: string(row[:min(len(row), MaxRow)]), seq: uint64(i * c % 7)}
				r.payload = r.row[:len(r.row)*c/40]
				records = append(records, r)
			}
		}
		s, err := New(Config{FS: newDisk(0), Dir: "spill", Memory: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		got, err := sortAll(t.Context(), s, records)
		if err != nil {
			t.Fatal(err)
		}
		checkOrder(t, got, records)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
