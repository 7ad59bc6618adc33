package etype

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"testing"

	"github.com/jcmturner/gokrb5/v8/crypto"
)

// with returns c with another key for texts.
func (c *Cipher) with(t testing.TB, key []byte) *Cipher {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	c.block, c.enc, c.dec = block, newChain(cipher.NewCBCEncrypter(block, zeros[:])), newChain(cipher.NewCBCDecrypter(block, zeros[:]))
	return c
}

// BenchmarkSealAndOpen seals and opens the texts of a small request and of a large response. The
// peer is gokrb5.
func BenchmarkSealAndOpen(b *testing.B) {
	key, err := Generate(AES256SHA1)
	if err != nil {
		b.Fatal(err)
	}
	ours, err := New(key, 24)
	if err != nil {
		b.Fatal(err)
	}
	theirs, err := crypto.GetEtype(int32(AES256SHA1))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100, 300_000} {
		text, room := make([]byte, n), make([]byte, 0, n+100)
		sealed := ours.Seal(nil, text)
		run := func(name string, f func() error) {
			b.Run(fmt.Sprintf("%s/bytes=%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("seal/ours", func() error { room = ours.Seal(room[:0], text); return nil })
		run("seal/gokrb5", func() error { _, _, err := theirs.EncryptMessage(key.Bytes, text, 24); return err })
		run("open/ours", func() error { _, err := ours.Open(append(room[:0], sealed...)); return err })
		run("open/gokrb5", func() error { _, err := theirs.DecryptMessage(key.Bytes, bytes.Clone(sealed), 24); return err })
	}
}
