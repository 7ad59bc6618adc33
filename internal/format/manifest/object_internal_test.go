package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// fill sets the exported fields of v to random values. Lists and pointers may be nil, and lists may be empty.
func fill(v reflect.Value, dice *rand.Rand, depth int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(dice.Int64N(1<<33), dice.Int64N(1e9)).UTC()))
		return
	}
	if !v.CanSet() || depth > 8 || dice.IntN(4) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), dice, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), dice, depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), dice.IntN(4), 8))
		for i := range v.Len() {
			fill(v.Index(i), dice, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range dice.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, dice, depth+1)
			fill(value, dice, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		words := []string{"", "a", "<&>", "长安 ", " x\n\t", `"\`, "{}", "[1, 2]"}
		v.SetString(words[dice.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(dice.Int64N(1 << 20))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(dice.Uint64N(1 << 7))
	}
}

// documents are the files of this package.
func documents() []any {
	return []any{
		new(Table), new(Load), new(Handover), new(Plan), new(Report), new(Conversion), new(Converted), new(Retired), new(Begun), new(Loading), new(Extract),
	}
}

// TestObjectsAreWrittenAndReadAsByPackageJSON fills each document at random, and compares the text and what is read from it with
// package json.
func TestObjectsAreWrittenAndReadAsByPackageJSON(t *testing.T) {
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 0))
		for _, v := range documents() {
			fill(reflect.ValueOf(v).Elem(), dice, 0)
			for _, indent := range []string{"", " "} {
				var want, got bytes.Buffer
				e := json.NewEncoder(&want)
				e.SetEscapeHTML(false)
				e.SetIndent("", indent)
				if err := e.Encode(v); err != nil {
					t.Fatal(err)
				}
				if err := writeObject(&got, v, "", indent); err != nil || got.String()+"\n" != want.String() {
					t.Fatalf("seed %d, indent %q: wrote %s, %v\nwant %s", seed, indent, got.String(), err, want.String())
				}
			}
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			want, got := reflect.New(reflect.TypeOf(v).Elem()).Interface(), reflect.New(reflect.TypeOf(v).Elem()).Interface()
			if err := json.Unmarshal(text, want); err != nil {
				t.Fatal(err)
			}
			if _, err := readObject(bytes.NewReader(text), got, ""); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s: read %+v, %v\nwant %+v", seed, text, got, err, want)
			}
		}
	}
}

// TestDamagedJSONIsRefusedAsByPackageJSON cuts and changes the text of each document at random.
func TestDamagedJSONIsRefusedAsByPackageJSON(t *testing.T) {
	refused := 0
	for seed := range uint64(400) {
		dice := rand.New(rand.NewPCG(seed, 1))
		for _, v := range documents() {
			fill(reflect.ValueOf(v).Elem(), dice, 0)
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			switch at := dice.IntN(len(text)); dice.IntN(3) {
			case 0:
				text = text[:at]
			case 1:
				text[at] = `{}[]",:0nx `[dice.IntN(11)]
			case 2:
				text = slices.Insert(text, at, `{}[]",:0nx `[dice.IntN(11)])
			}
			want, got := reflect.New(reflect.TypeOf(v).Elem()).Interface(), reflect.New(reflect.TypeOf(v).Elem()).Interface()
			wantErr := json.Unmarshal(text, want)
			_, err = readObject(bytes.NewReader(text), got, "")
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("seed %d: %s: %v, and package json says %v", seed, text, err, wantErr)
			}
			if err != nil {
				refused++
			} else if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s: read %+v\nwant %+v", seed, text, got, want)
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d texts were damaged", refused)
	}
	for text, want := range map[string]string{
		"": errEnd.Error(), `{"version": 1`: errEnd.Error(), `{"version": 1} {`: "after the end", `[]`: "[ in place of {", `{"inputs": {}}`: "in place of a list",
	} {
		if _, err := readObject(strings.NewReader(text), new(Load), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestElementsShareEqualValues reads a ledger of many files of one job.
func TestElementsShareEqualValues(t *testing.T) {
	const files = 100
	l := &Load{Version: 1}
	for i := range files {
		l.Inputs = append(l.Inputs, Input{Path: fmt.Sprint(i), TextsBy: "digest", Part: &Part{Behaviours: []string{"play", "order"}}, Unread: map[string][]string{"play": {"title"}}})
		l.Days = append(l.Days, Day{Behaviour: "play"})
	}
	l.Inputs[7].Part.Behaviours = []string{"play"}
	text, err := Seal(l)
	if err != nil {
		t.Fatal(err)
	}
	var got Load
	if err := Unseal(text, &got); err != nil || !reflect.DeepEqual(got.Inputs, l.Inputs) || !reflect.DeepEqual(got.Days, l.Days) {
		t.Fatalf("%+v, %v", got, err)
	}
	lists, unread := map[*string]bool{}, map[uintptr]bool{}
	for _, in := range got.Inputs {
		lists[&in.Part.Behaviours[0]] = true
		unread[reflect.ValueOf(in.Unread).Pointer()] = true
	}
	if len(lists) != 3 || len(unread) != 1 { // the file with another part is between others
		t.Errorf("%d files have %d lists of behaviours and %d of fields, want 3 and 1", files, len(lists), len(unread))
	}
}

// sumOf returns the checksum of JSON, written in pieces of some bytes.
func sumOf(b []byte, size int) (checksum, error) {
	c := &compacted{sha: sha256.New()}
	for piece := range slices.Chunk(b, size) {
		if n, err := c.Write(piece); n != len(piece) || err != nil {
			return checksum{}, fmt.Errorf("wrote %d of %d bytes: %w", n, len(piece), err)
		}
	}
	return c.sum()
}

// FuzzCompact compares the checksum of JSON with the digest of what json.Compact returns.
func FuzzCompact(f *testing.F) {
	for _, s := range []string{
		"{\n \"a b\": [1, -2.5e3 ,\ttrue,\r\nnull]\n}\n", `{"a\\": " \" x "}`, `{"q": "\\\\", "r": "\u0022 \u005c"}`,
		"{\"长安 \u2028\": \"\u00a0 \"}", `""`, `"\\\""`, " [ ] ", "\"\xff \xfe\" ", `"open`, `"open\`, "", strings.Repeat(" ", 100), strings.Repeat("12 ", 100),
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		got, err := sumOf(b, int(size)+1)
		if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) && bytes.Contains(b, []byte("sha256")) {
			return // it may have a checksum
		}
		var compact bytes.Buffer
		if json.Compact(&compact, b) != nil {
			return
		}
		want := sha256.Sum256(compact.Bytes())
		if err != nil || got.sum != hex.EncodeToString(want[:]) || got.has {
			t.Errorf("%q has the checksum %+v, %v; want %x", b, got, err, want)
		}
	})
}

// TestTheChecksumAcceptsOtherWhiteSpace has a file that an editor formatted and a file that it changed.
func TestTheChecksumAcceptsOtherWhiteSpace(t *testing.T) {
	v := struct {
		Where string `json:"where"`
		N     int    `json:"n"`
	}{`a  =="b" `, 1}
	b, err := Seal(v)
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		t.Fatal(err)
	}
	want, err := sumOf([]byte(`{"where":"a  ==\"b\" ","n":1}`), 1000)
	if err != nil || want.has {
		t.Fatalf("without a checksum: %+v, %v", want, err)
	}
	for _, same := range [][]byte{b, compact.Bytes(), bytes.ReplaceAll(b, []byte("\n "), []byte("\r\n\t  "))} {
		for size := 1; size <= len(same); size++ {
			if got, err := sumOf(same, size); got != (checksum{want.sum, true}) || err != nil {
				t.Fatalf("%q has the checksum %+v, %v; want %q", same, got, err, want.sum)
			}
		}
	}
	changed := bytes.Replace(b, []byte("a  =="), []byte("a =="), 1)
	if _, err := sumOf(changed, 10); !errors.Is(err, errSum) {
		t.Errorf("%q: %v, want %v", changed, err, errSum)
	}
}
