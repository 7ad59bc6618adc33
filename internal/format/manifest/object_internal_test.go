package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// FuzzCompact compares compact with json.Compact.
func FuzzCompact(f *testing.F) {
	for _, s := range []string{
		"{\n \"a b\": [1, -2.5e3 ,\ttrue,\r\nnull]\n}\n", `{"a\\": " \" x "}`, `{"q": "\\\\", "r": "\u0022 \u005c"}`,
		"{\"长安 \u2028\": \"\u00a0 \"}", `""`, `"\\\""`, " [ ] ", "\"\xff \xfe\" ", `"open`, `"open\`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		was := bytes.Clone(b)
		got := compact(b)
		if !bytes.Equal(b, was) {
			t.Fatalf("compact(%q) changed its argument to %q", was, b)
		}
		var want bytes.Buffer
		if json.Compact(&want, b) == nil && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("compact(%q) = %q, want %q", b, got, want.Bytes())
		}
	})
}

// TestUnsealedAcceptsOtherWhiteSpace has a file that an editor formatted and a file that it
// changed.
func TestUnsealedAcceptsOtherWhiteSpace(t *testing.T) {
	const indented = "{\n \"where\": \"a  ==\\\"b\\\" \",\n \"n\": 1\n}\n"
	b, sum := sealed([]byte(indented))
	for _, same := range [][]byte{b, compact(b), bytes.ReplaceAll(b, []byte("\n "), []byte("\r\n\t  "))} {
		if got, err := unsealed(same); got != sum || err != nil {
			t.Errorf("unsealed(%q) = %q, %v; want %q", same, got, err, sum)
		}
	}
	if got, err := unsealed([]byte(indented)); got != sum || err != nil {
		t.Errorf("unsealed without a checksum = %q, %v; want %q", got, err, sum)
	}
	changed := bytes.Replace(b, []byte("a  =="), []byte("a =="), 1)
	if _, err := unsealed(changed); !errors.Is(err, errSum) {
		t.Errorf("unsealed(%q): %v, want %v", changed, err, errSum)
	}
}
