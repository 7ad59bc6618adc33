package token

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// samples are tokens whose parts have the lengths at which a vint gets longer.
var samples = []Token{
	{Kind: HDFS, Service: "10.0.0.1:8020", Identifier: []byte("\x00\x05alice\x05hbase\x00\x8a\x01\x90\x00\x00\x00\x00\x8a\x01\x91\x00\x00\x00\x00\x01\x02"), Password: []byte("hidden password 1234")},
	{Kind: HBase, Service: strings.Repeat("x", 127), Identifier: make([]byte, 128), Password: make([]byte, 300)},
	{Kind: "", Service: "", Identifier: []byte{}, Password: make([]byte, 70_000)},
}

// protoForm returns the protobuf form of tokens, with a secret, which is skipped.
func protoForm(all []Token) []byte {
	field := func(b []byte, num protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
	}
	var message []byte
	for _, t := range all {
		var part []byte
		for i, v := range [][]byte{t.Identifier, t.Password, []byte(t.Kind), []byte(t.Service)} {
			part = field(part, protowire.Number(i+1), v)
		}
		message = field(message, 1, field(field(nil, 1, []byte("alias")), 2, part))
	}
	message = field(message, 2, field(field(nil, 1, []byte("key")), 3, []byte("secret")))
	return protowire.AppendBytes([]byte("HDTS\x01"), message)
}

func TestBothFormsAreRead(t *testing.T) {
	for name, b := range map[string][]byte{"Writable": Append(nil, samples), "protobuf": protoForm(samples)} {
		file := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(file)
		if err != nil || !reflect.DeepEqual(got, samples) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, samples)
		}
		if found, ok := Find(got, HDFS, "nn.test:8020", "10.0.0.1:8020"); !ok || string(found.Password) != "hidden password 1234" {
			t.Errorf("%s: found %v, %v", name, found, ok)
		}
		if found, ok := Find(got, HBase, "10.0.0.1:8020"); ok {
			t.Errorf("%s: a token of another kind: %v", name, found)
		}
	}
}

func TestAFileIsForItsOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	for range 2 { // the second replaces the first
		if err := Save(file, samples); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v; want mode 0600", info.Mode(), err)
	}
	if got, err := Load(file); err != nil || !reflect.DeepEqual(got, samples) {
		t.Errorf("%v, %v; want %v", got, err, samples)
	}
	if err := Save(filepath.Join(file, "below"), samples); !errors.Is(err, ErrFile) {
		t.Errorf("below a file: %v, want ErrFile", err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v; want the file alone", left, err)
	}
}

func TestExpiredTokensAreNamed(t *testing.T) {
	o, err := samples[0].Owner()
	if err != nil {
		t.Fatal(err)
	}
	if err := samples[0].Check(o.Expires.Add(-time.Millisecond)); err != nil {
		t.Errorf("before the end: %v", err)
	}
	err = samples[0].Check(o.Expires)
	if !errors.Is(err, ErrExpired) || !strings.Contains(err.Error(), HDFS+" for 10.0.0.1:8020 of alice") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("at the end: %v, want ErrExpired with the service and the user", err)
	}
	if err := samples[1].Check(o.Expires); err != nil {
		t.Errorf("an identifier that is not understood: %v", err)
	}
}

func TestVints(t *testing.T) {
	for v, want := range map[int64]string{
		0: "00", 127: "7f", -112: "90", 128: "8f80", 255: "8fff", 256: "8e0100", -113: "8770", -1 << 63: "80" + "7fffffffffffffff", 1<<63 - 1: "88" + "7fffffffffffffff",
	} {
		b := appendVint(nil, v)
		if got := fmt.Sprintf("%x", b); got != want {
			t.Errorf("%d is written as %s, want %s", v, got, want)
		}
		r := reader{rest: b}
		if got := r.vint(); got != v || r.err != nil || len(r.rest) > 0 {
			t.Errorf("%d is read as %d, %v", v, got, r.err)
		}
	}
}

func TestFilesThatAreNoneAreNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "does not begin with HDTS"},
		{"HDTS", "does not begin with HDTS"},
		{"HDTS\x02", "version 2"},
		{"HDTS\x00\x01\x05al", "ends early"},
		{"HDTS\x00\x8f", "ends early"},
		{"HDTS\x00\x01\x00\x90", "ends early"},
		{"HDTS\x01\x05\x0a", "unexpected EOF"},
	} {
		file := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(file)
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v; want ErrFile and %q", c.text, err, c.want)
		}
	}
	if _, err := Load("/none/tokens"); !errors.Is(err, ErrFile) {
		t.Errorf("no file: %v", err)
	}
}

func TestOwners(t *testing.T) {
	if o, err := samples[0].Owner(); err != nil || o.User != "alice" || !o.Expires.Equal(time.UnixMilli(0x019100000000)) {
		t.Errorf("owner %+v, %v; want alice", o, err)
	}
	id := []byte{8, 0, 18, 3, 'b', 'o', 'b', 24, 1, 32, 1, 40, 0xe8, 7, 48, 1}
	hb := Token{Kind: HBase, Identifier: append([]byte{0, 0, 0, byte(len(id))}, id...)}
	if o, err := hb.Owner(); err != nil || o.User != "bob" || !o.Expires.Equal(time.UnixMilli(1000)) {
		t.Errorf("owner %+v, %v; want bob until 1 s", o, err)
	}
	for _, bad := range []Token{{Kind: HDFS}, {Kind: HBase}, {Kind: "other"}, {Kind: HBase, Identifier: []byte{0, 0, 0, 9, 1}}} {
		if o, err := bad.Owner(); err == nil {
			t.Errorf("%v has the owner %+v", bad, o)
		}
	}
}

func TestPasswordsAreNotPrinted(t *testing.T) {
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if got := fmt.Sprintf(verb, samples[0]); strings.Contains(got, "hidden") || strings.Contains(got, "68696464656e") || strings.Contains(got, "104, 105") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Append(nil, samples[:1]))
	f.Add(protoForm(samples[:1]))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := Parse(b)
		if err != nil {
			return
		}
		for _, one := range all {
			_, _ = one.Owner()
		}
		again, err := Parse(Append(nil, all))
		if err != nil || len(again) != len(all) {
			t.Fatalf("%d tokens are written, and %d read, %v", len(all), len(again), err)
		}
		for i := range all {
			if string(again[i].Password) != string(all[i].Password) || again[i].String() != all[i].String() {
				t.Errorf("token %d becomes %v", i, again[i])
			}
		}
	})
}
