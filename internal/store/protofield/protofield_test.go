package protofield_test

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/protofield"
)

// message returns a message with a field of each wire type.
func message() []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 300)
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), "two")
	b = protowire.AppendFixed32(protowire.AppendTag(b, 3, protowire.Fixed32Type), 3)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), 4)
	b = protowire.AppendTag(b, 5, protowire.StartGroupType)
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 9)
	b = protowire.AppendTag(b, 5, protowire.EndGroupType)
	b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), nil)
	return b
}

func TestAllReadsEveryWireType(t *testing.T) {
	var got []string
	for f, err := range protofield.All(message()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d type %d %q %d", f.Num, f.Type, f.Bytes, f.Number))
	}
	want := []string{`1 type 0 "" 300`, `2 type 2 "two" 0`, `3 type 5 "" 0`, `4 type 1 "" 0`, `5 type 3 "" 0`, `2 type 2 "" 0`}
	if !slices.Equal(got, want) {
		t.Errorf("the fields are %q, want %q", got, want)
	}
}

// TestAMessageThatIsCutEndsWithAnError cuts a message at each byte. The fields before the cut are read.
func TestAMessageThatIsCutEndsWithAnError(t *testing.T) {
	whole := message()
	ends := map[int]int{0: 0} // by the end of a field, the number of fields
	for at, n := 0, 1; at < len(whole); n++ {
		at += protowireLen(t, whole[at:])
		ends[at] = n
	}
	for cut := range whole {
		fields, failed := 0, false
		for _, err := range protofield.All(whole[:cut]) {
			if failed = err != nil; !failed {
				fields++
			}
		}
		n, atEnd := ends[cut]
		if failed == atEnd || atEnd && fields != n {
			t.Errorf("cut at %d: %d fields, failed %t; want %d fields, failed %t", cut, fields, failed, n, !atEnd)
		}
	}
}

// protowireLen returns the length of the first field of a message.
func protowireLen(t *testing.T, b []byte) int {
	_, _, n := protowire.ConsumeField(b)
	if n < 0 {
		t.Fatal(protowire.ParseError(n))
	}
	return n
}

func TestFindReturnsTheFirstFieldOfBytes(t *testing.T) {
	if b, err := protofield.Find(message(), 2); err != nil || string(b) != "two" {
		t.Errorf("%q, %v; want two", b, err)
	}
	for _, num := range []protowire.Number{1, 3, 9} {
		if b, err := protofield.Find(message(), num); err == nil {
			t.Errorf("field %d is %q, want an error", num, b)
		}
	}
	if _, err := protofield.Find([]byte{0x12, 5, 'x'}, 2); err == nil {
		t.Error("a field that is cut is found")
	}
}
