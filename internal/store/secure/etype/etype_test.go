package etype

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/crypto"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFolds has the vectors of RFC 3961, appendix A.1.
func TestFolds(t *testing.T) {
	for _, c := range []struct {
		bytes int
		text  string
		want  string
	}{
		{8, "012345", "be072631276b1955"},
		{7, "password", "78a07b6caf85fa"},
		{8, "Rough Consensus, and Running Code", "bb6ed30870b7f0e0"},
		{21, "password", "59e4a8ca7c0385c3c37b3f6d2000247cb6e6bd5b3e"},
		{24, "MASSACHVSETTS INSTITVTE OF TECHNOLOGY", "db3b0d8f0b061e603282b308a50841229ad798fab9540c1b"},
		{21, "Q", "518a54a215a8452a518a54a215a8452a518a54a215"},
		{21, "ba", "fb25d531ae8974499f52fd92ea9857c4ba24cf297e"},
		{16, "kerberos", "6b65726265726f737b9b5b2b93132b93"},
	} {
		if got := hex.EncodeToString(fold([]byte(c.text), c.bytes)); got != c.want {
			t.Errorf("%d bytes of %q: %s, want %s", c.bytes, c.text, got, c.want)
		}
	}
}

// TestCiphertextStealing has the vectors of RFC 3962, appendix B.
func TestCiphertextStealing(t *testing.T) {
	const text = "I would like the General Gau's Chicken, please, and wonton soup."
	c := bare(t, []byte("chicken teriyaki"))
	for _, v := range []struct {
		n    int
		want string
	}{
		{17, "c6353568f2bf8cb4d8a580362da7ff7f97"},
		{31, "fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5"},
		{32, "39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584"},
		{47, "97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc98ebf5"},
		{48, "97687268d6ecccc0c07b25e25ecfe5849dad8bbb96c4cdc03bc103e1a194bbd839312523a78662d5be7fcbcc98ebf5a8"},
		{64, "97687268d6ecccc0c07b25e25ecfe58439312523a78662d5be7fcbcc98ebf5a84807efe836ee89a526730dbc2f7bc8409dad8bbb96c4cdc03bc103e1a194bbd8"},
	} {
		b := []byte(text[:v.n])
		c.encrypt(b)
		if got := hex.EncodeToString(b); got != v.want {
			t.Errorf("%d bytes: %s, want %s", v.n, got, v.want)
		}
		if c.decrypt(b); string(b) != text[:v.n] {
			t.Errorf("%d bytes become %q", v.n, b)
		}
	}
}

// bare returns a Cipher that encrypts with a key itself.
func bare(t *testing.T, key []byte) *Cipher {
	t.Helper()
	c, err := New(Key{Type: AES128SHA1, Bytes: key}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c.with(t, key)
}

// sha2Vectors are the vectors of RFC 8009, appendix A.
var sha2Vectors = []struct {
	id          ID
	key         string
	kc, ke, ki  string
	checksum    string // of the longest text
	confounders []string
	sealed      []string
}{
	{
		id: AES128SHA256, key: "3705d96080c17728a0e800eab6e0d23c",
		kc: "b31a018a48f54776f403e9a396325dc3", ke: "9b197dd1e8c5609d6e67c3e37c62c72e", ki: "9fda0e56ab2d85e1569a688696c26a6c",
		checksum: "d78367186643d67b411cba9139fc1dee",
		confounders: []string{
			"7e5895eaf2672435bad817f545a37148", "7bca285e2fd4130fb55b1a5c83bc5b24", "56ab21713ff62c0a1457200f6fa9948f", "a7a4e29a4728ce10664fb64e49ad3fac",
		},
		sealed: []string{
			"ef85fb890bb8472f4dab20394dca781dad877eda39d50c870c0d5a0a8e48c718",
			"84d7f30754ed987bab0bf3506beb09cfb55402cef7e6877ce99e247e52d16ed4421dfdf8976c",
			"3517d640f50ddc8ad3628722b3569d2ae07493fa8263254080ea65c1008e8fc295fb4852e7d83e1e7c48c37eebe6b0d3",
			"720f73b18d9859cd6ccb4346115cd336c70f58edc0c4437c5573544c31c813bce1e6d072c186b39a413c2f92ca9b8334a287ffcbfc",
		},
	},
	{
		id: AES256SHA384, key: "6d404d37faf79f9df0d33568d320669800eb4836472ea8a026d16b7182460c52",
		kc: "ef5718be86cc84963d8bbb5031e9f5c4ba41f28faf69e73d", ke: "56ab22bee63d82d7bc5227f6773f8ea7a5eb1c825160c38312980c442e5c7e49",
		ki:       "69b16514e3cd8e56b82010d5c73012b622c4d00ffc23ed1f",
		checksum: "45ee791567eefca37f4ac1e0222de80d43c3bfa06699672a",
		confounders: []string{
			"f764e9fa15c276478b2c7d0c4e5f58e4", "b80d3251c1f6471494256ffe712d0b9a", "53bf8a0d105265d4e276428624ce5e63", "763e65367e864f02f55153c7e3b58af1",
		},
		sealed: []string{
			"41f53fa5bfe7026d91faf9be959195a058707273a96a40f0a01960621ac612748b9bbfbe7eb4ce3c",
			"4ed7b37c2bcac8f74f23c1cf07e62bc7b75fb3f637b9f559c7f664f69eab7b6092237526ea0d1f61cb20d69d10f2",
			"bc47ffec7998eb91e8115cf8d19dac4bbbe2e163e87dd37f49beca92027764f68cf51f14d798c2273f35df574d1f932e40c4ff255b36a266",
			"40013e2df58e8751957d2878bcd2d6fe101ccfd556cb1eae79db3c3ee86429f2b2a602ac86fef6ecb647d6295fae077a1feb517508d2c16b4192e01f62",
		},
	},
}

// TestSHA2Vectors compares the derived keys, sealed texts and checksums of usage 2 with the vectors.
func TestSHA2Vectors(t *testing.T) {
	for _, v := range sha2Vectors {
		p := profiles[v.id]
		key := unhex(t, v.key)
		for purpose, want := range map[byte]string{0x99: v.kc, 0xaa: v.ke, 0x55: v.ki} {
			if got := hex.EncodeToString(p.kdf(key, 2, purpose, len(want)/2)); got != want {
				t.Errorf("type %d, key of %x: %s, want %s", v.id, purpose, got, want)
			}
		}
		c, err := New(Key{v.id, key}, 2)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{"", "000102030405", "000102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f1011121314"}
		for i, text := range texts {
			b := append(unhex(t, v.confounders[i]), unhex(t, text)...)
			if got := hex.EncodeToString(c.sealFrom(b, 0)); got != v.sealed[i] {
				t.Errorf("type %d, %q is sealed as %s, want %s", v.id, text, got, v.sealed[i])
			}
			if got, err := c.Open(unhex(t, v.sealed[i])); err != nil || hex.EncodeToString(got) != text {
				t.Errorf("type %d, %q is opened as %x, %v", v.id, text, got, err)
			}
		}
		if got := hex.EncodeToString(c.Sum(nil, unhex(t, texts[3]))); got != v.checksum {
			t.Errorf("type %d: checksum %s, want %s", v.id, got, v.checksum)
		}
	}
}

// lengths are those at which blocks end, and some others.
var lengths = []int{0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 1000, 65536}

// TestAnotherImplementationOpensIt checks each type in both directions against gokrb5.
func TestAnotherImplementationOpensIt(t *testing.T) {
	for id := range profiles {
		key, err := Generate(id)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := crypto.GetEtype(int32(id))
		if err != nil {
			t.Fatal(err)
		}
		for _, usage := range []uint32{11, 22, 24} {
			ours, err := New(key, usage)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range lengths {
				text := bytes.Repeat([]byte("Gau's chicken! "), n/15+1)[:n]
				sealed := ours.Seal([]byte("before"), text[:n/3], text[n/3:])
				if got, err := theirs.DecryptMessage(key.Bytes, bytes.Clone(sealed[6:]), usage); err != nil || !bytes.Equal(got, text) {
					t.Errorf("type %d, usage %d, %d bytes: theirs opens %d bytes, %v", id, usage, n, len(got), err)
				}
				if n == 0 {
					continue // theirs cannot seal it
				}
				_, sealed, err := theirs.EncryptMessage(key.Bytes, text, usage)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := ours.Open(sealed); err != nil || !bytes.Equal(got, text) {
					t.Errorf("type %d, usage %d, %d bytes: ours opens %d bytes, %v", id, usage, n, len(got), err)
				}
				sum, err := theirs.GetChecksumHash(key.Bytes, text, usage)
				if err != nil {
					t.Fatal(err)
				}
				if err := ours.Verify(sum, text); err != nil {
					t.Errorf("type %d, usage %d, %d bytes: checksum: %v", id, usage, n, err)
				}
			}
		}
	}
}

func TestEveryChangedBitIsNoticed(t *testing.T) {
	for id := range profiles {
		key, _ := Generate(id)
		c, err := New(key, 24)
		if err != nil {
			t.Fatal(err)
		}
		sealed, sum := c.Seal(nil, []byte("a text of some length")), c.Sum(nil, []byte("a text"))
		for i := range 8 * len(sealed) {
			b := bytes.Clone(sealed)
			b[i/8] ^= 1 << (i % 8)
			if _, err := c.Open(b); !errors.Is(err, ErrForged) {
				t.Fatalf("type %d, bit %d of a sealed text: %v", id, i, err)
			}
		}
		for i := range 8 * len(sum) {
			b := bytes.Clone(sum)
			b[i/8] ^= 1 << (i % 8)
			if err := c.Verify(b, []byte("a text")); !errors.Is(err, ErrForged) {
				t.Fatalf("type %d, bit %d of a checksum: %v", id, i, err)
			}
		}
		for n := range len(sealed) {
			if _, err := c.Open(bytes.Clone(sealed[:n])); !errors.Is(err, ErrForged) {
				t.Fatalf("type %d, cut to %d bytes: %v", id, n, err)
			}
		}
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	k := Key{Type: AES256SHA1, Bytes: []byte("secret secret secret secret 1234")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if got := fmt.Sprintf(verb, k); strings.Contains(got, "secret") || strings.Contains(got, "736563") || strings.Contains(got, "115, 101") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
	if _, err := New(Key{Type: 23, Bytes: make([]byte, 16)}, 1); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a key of RC4: %v", err)
	}
	if _, err := New(Key{Type: AES256SHA1, Bytes: make([]byte, 16)}, 1); err == nil {
		t.Error("a short key is accepted")
	}
}

func FuzzOpen(f *testing.F) {
	key := Key{Type: AES256SHA1, Bytes: make([]byte, 32)}
	c, err := New(key, 22)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(c.Seal(nil, []byte("text")), int32(AES256SHA1))
	f.Add([]byte{}, int32(AES128SHA256))
	f.Fuzz(func(t *testing.T, b []byte, id int32) {
		key, err := Generate(ID(id))
		if err != nil {
			return
		}
		c, err := New(key, 22)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := c.Open(bytes.Clone(b)); err == nil {
			t.Errorf("bytes that nobody sealed are opened as %x", text)
		}
		if text, err := c.Open(c.Seal(nil, b)); err != nil || !bytes.Equal(text, b) {
			t.Errorf("%x becomes %x, %v", b, text, err)
		}
	})
}
