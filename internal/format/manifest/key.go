package manifest

import (
	"fmt"
	"strconv"

	"usertrail/internal/split"
)

// A Key is a row in JSON: printable ASCII as it is, every other byte and the
// backslash as \xNN, like HBase's Bytes.toStringBinary.
type Key []byte

// MarshalText implements encoding.TextMarshaler.
func (k Key) MarshalText() ([]byte, error) {
	out := make([]byte, 0, len(k))
	for _, c := range k {
		if c >= 0x20 && c < 0x7f && c != '\\' {
			out = append(out, c)
		} else {
			out = fmt.Appendf(out, `\x%02X`, c)
		}
	}
	return out, nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Key) UnmarshalText(b []byte) error {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			out = append(out, b[i])
			continue
		}
		if i+4 > len(b) || b[i+1] != 'x' {
			return fmt.Errorf("key %q: a backslash must be followed by xNN", b)
		}
		v, err := strconv.ParseUint(string(b[i+2:i+4]), 16, 8)
		if err != nil {
			return fmt.Errorf("key %q: %w", b, err)
		}
		out = append(out, byte(v))
		i += 3
	}
	*k = out
	return nil
}

// KeysOf returns split points as keys of a manifest.
func KeysOf(points split.Points) []Key {
	out := make([]Key, len(points))
	for i, p := range points {
		out[i] = p
	}
	return out
}

// PointsOf returns keys as split points.
func PointsOf(keys []Key) split.Points {
	out := make(split.Points, len(keys))
	for i, k := range keys {
		out[i] = k
	}
	return out
}
