package behaviour_test

import (
	"reflect"
	"testing"

	"usertrail/internal/behaviour"
)

func TestPackedRecordsComeBack(t *testing.T) {
	for _, want := range []behaviour.Record{
		{Kind: 63, Time: -1, Date: behaviour.MinDate, Values: [][]byte{nil, {}, []byte("text"), make([]byte, 300)}},
		{Kind: 254, Time: 1, Values: [][]byte{[]byte("x")}}, {Kind: 255, Time: 1, Values: [][]byte{nil}}, {Kind: behaviour.MaxKinds - 1, Values: [][]byte{}},
		{Time: 1 << 62, Date: behaviour.MaxDate, Values: [][]byte{}},
	} {
		packed := behaviour.AppendPacked(nil, &want)
		got := behaviour.Record{User: []byte("kept"), ID: 7, Values: [][]byte{[]byte("of the one before")}}
		if err := got.Unpack(packed); err != nil {
			t.Fatal(err)
		}
		want.User, want.ID = got.User, 7
		if string(got.User) != "kept" || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v", want, got)
		}
	}
}

// TestDamagedPackedRecordsAreErrors truncates a record at every byte of its head and values.
func TestDamagedPackedRecordsAreErrors(t *testing.T) {
	for _, kind := range []int{0, 300} {
		packed := behaviour.AppendPacked(nil, &behaviour.Record{Kind: kind, Values: [][]byte{make([]byte, 200)}})
		var r behaviour.Record
		for n := range packed {
			if err := r.Unpack(packed[:n]); err == nil && n != len(packed)-202 {
				t.Errorf("%d of %d bytes are taken for a record", n, len(packed))
			}
		}
	}
}
