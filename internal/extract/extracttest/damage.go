package extracttest

import (
	"os"
	"testing"
)

// Damages are ways to damage a file between two commands.
var Damages = []struct {
	Name string
	Do   func(t *testing.T, name string)
}{
	{"emptied", func(t *testing.T, name string) { rewrite(t, name, func([]byte) []byte { return nil }) }},
	{"cut short", func(t *testing.T, name string) { rewrite(t, name, func(b []byte) []byte { return b[:len(b)-1] }) }},
	{"changed", func(t *testing.T, name string) {
		rewrite(t, name, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	}},
	{"longer", func(t *testing.T, name string) { rewrite(t, name, func(b []byte) []byte { return append(b, '\n') }) }},
	{"gone", func(t *testing.T, name string) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}},
}

// rewrite changes the bytes of a file.
func rewrite(t *testing.T, name string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, change(b), 0o644); err != nil {
		t.Fatal(err)
	}
}
