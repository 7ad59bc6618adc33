package manifest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// same reports whether two manifests are equal as JSON.
func same(t *testing.T, a, b *manifest.Table) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func someTable() *manifest.Table {
	return &manifest.Table{
		Version: manifest.Version, Layout: "reversed", Family: "d", Splits: []manifest.Key{manifest.Key("a<b"), {0, 255}},
		Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "长安"}}},
		Files:  []manifest.File{{Name: "d/000001-0000.hfile", Roll: "d/000001-0000.roll", Records: 7501, Sum: "0123456789abcdef"}},
		Loads:  []manifest.LoadRef{{Number: 1, Name: "loads/000001.json", Records: 7501}},
	}
}

// TestAChangedByteIsNoticed changes each byte of a manifest. If Read succeeds, the content is the same:
// only a space or the name of the checksum changed.
func TestAChangedByteIsNoticed(t *testing.T) {
	fs, name := local.New(), filepath.Join(t.TempDir(), "manifest.json")
	want := someTable()
	if err := manifest.Write(t.Context(), fs, name, want); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := new(manifest.Table)
	if err := manifest.Read(t.Context(), fs, name, got); err != nil || !same(t, got, want) {
		t.Fatalf("read back: %+v, %v", got, err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if bad[i] == '"' || good[i] == '"' {
			bad[i] = 'x'
		}
		testkit.WriteFile(t, name, string(bad))
		got := new(manifest.Table)
		err := manifest.Read(t.Context(), fs, name, got)
		if !errors.Is(err, manifest.ErrDamaged) && (err != nil || !same(t, got, want)) {
			t.Errorf("byte %d, %q instead of %q: %+v, %v", i, bad[i], good[i], got, err)
		}
	}
}

// TestManifestsWithoutAChecksumAreRead has a manifest of an older version, one that a person
// edited, and one that a program wrote in another form.
func TestManifestsWithoutAChecksumAreRead(t *testing.T) {
	fs, name := local.New(), filepath.Join(t.TempDir(), "manifest.json")
	want := someTable()
	if err := manifest.Write(t.Context(), fs, name, want); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ",")
	old := "{" + rest
	for what, text := range map[string]string{
		"without a checksum": old,
		"in one line":        strings.NewReplacer("\n", "", ": ", ":").Replace(string(text)),
		"edited":             strings.Replace(old, `"d"`, `"d"`, 1),
	} {
		testkit.WriteFile(t, name, text)
		got := new(manifest.Table)
		if err := manifest.Read(t.Context(), fs, name, got); err != nil || !same(t, got, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	testkit.WriteFile(t, name, string(bytes.Replace(text, []byte("7501"), []byte("7502"), 1)))
	err = manifest.Read(t.Context(), fs, name, new(manifest.Table))
	if !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), name) {
		t.Errorf("edited, with the checksum of before: %v, want ErrDamaged that names the file", err)
	}
}

// TestUnsealWantsWhatSealReturned changes each byte, and removes the checksum.
func TestUnsealWantsWhatSealReturned(t *testing.T) {
	type record struct {
		Part  int    `json:"part"`
		Found []byte `json:"found"`
	}
	want := record{7, []byte{1, 2, 255}}
	good, err := manifest.Seal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got record
	if err := manifest.Unseal(good, &got); err != nil || got.Part != want.Part || !bytes.Equal(got.Found, want.Found) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if bytes.IndexByte([]byte(" \n"), good[i]) >= 0 {
			continue // white space means nothing
		}
		if err := manifest.Unseal(bad, &got); !errors.Is(err, manifest.ErrDamaged) {
			t.Errorf("byte %d, %q instead of %q: %v, want ErrDamaged", i, bad[i], good[i], err)
		}
	}
	for _, text := range []string{"", "{}", "[]", `{"part": 7}`, string(good[:len(good)/2])} {
		if err := manifest.Unseal([]byte(text), &got); !errors.Is(err, manifest.ErrDamaged) {
			t.Errorf("%q: %v, want ErrDamaged", text, err)
		}
	}
}
