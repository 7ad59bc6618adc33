// Package etype implements the encryption types of Kerberos that use AES. RFC 3961 has the
// framework, RFC 3962 the types with SHA-1, RFC 8009 the types with SHA-2.
//
// A key is never used itself. Each purpose has a number, its usage, from which three keys are
// derived: Ke encrypts, Ki protects the encrypted text, Kc protects plain text. A Cipher derives
// the keys once and keeps them.
//
//	sealed, SHA-1   AES-CTS(Ke, confounder | text) | HMAC(Ki, confounder | text), 12 bytes
//	sealed, SHA-2   AES-CTS(Ke, confounder | text) | HMAC(Ki, 16 zeros | AES-CTS(…)), 16 or 24 bytes
//	checksum        HMAC(Kc, text), 12, 16 or 24 bytes
//
// A confounder is 16 random bytes. AES-CTS is CBC with a zero initial vector, whose last two
// blocks are exchanged and cut, so that the result is as long as the text.
package etype

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
)

// An ID is the number of an encryption type in Kerberos.
type ID int32

// The encryption types that this package has.
const (
	AES128SHA1   ID = 17 // aes128-cts-hmac-sha1-96
	AES256SHA1   ID = 18 // aes256-cts-hmac-sha1-96
	AES128SHA256 ID = 19 // aes128-cts-hmac-sha256-128
	AES256SHA384 ID = 20 // aes256-cts-hmac-sha384-192
)

// ErrUnsupported is wrapped if a key is no AES key.
var ErrUnsupported = errors.New("encryption type is not supported")

// ErrForged is wrapped if a sealed text or a checksum does not fit the key.
var ErrForged = errors.New("the bytes were changed, or the key is another one")

// A Key is a key of Kerberos. It is never printed.
type Key struct {
	Type  ID
	Bytes []byte
}

// String returns the type of the key and not its bytes.
func (k Key) String() string { return fmt.Sprintf("key of encryption type %d", k.Type) }

// GoString is the same as String.
func (k Key) GoString() string { return k.String() }

// A profile has the parameters of an encryption type.
type profile struct {
	hash   func() hash.Hash
	keyLen int
	sumLen int // bytes of a truncated HMAC
	sha2   bool
}

var profiles = map[ID]profile{
	AES128SHA1:   {hash: sha1.New, keyLen: 16, sumLen: 12},
	AES256SHA1:   {hash: sha1.New, keyLen: 32, sumLen: 12},
	AES128SHA256: {hash: sha256.New, keyLen: 16, sumLen: 16, sha2: true},
	AES256SHA384: {hash: sha512.New384, keyLen: 32, sumLen: 24, sha2: true},
}

// Supported reports whether this package has an encryption type.
func Supported(id ID) bool {
	_, ok := profiles[id]
	return ok
}

// Generate returns a random key.
func Generate(id ID) (Key, error) {
	p, ok := profiles[id]
	if !ok {
		return Key{}, fmt.Errorf("type %d: %w", id, ErrUnsupported)
	}
	b := make([]byte, p.keyLen)
	_, _ = rand.Read(b) // it never fails
	return Key{Type: id, Bytes: b}, nil
}

// confounderLen is the number of random bytes in front of a text.
const confounderLen = aes.BlockSize

var zeros [aes.BlockSize]byte

// A Cipher seals, opens and signs with the keys of one usage. Only one goroutine may use it.
type Cipher struct {
	profile
	block    cipher.Block // of Ke
	enc, dec chain
	seal     hash.Hash // of Ki
	sign     hash.Hash // of Kc
	sum      []byte    // scratch
}

// New returns the cipher of a key and a usage (RFC 4120, section 7.5.1, and RFC 4121, section 2).
func New(key Key, usage uint32) (*Cipher, error) {
	p, ok := profiles[key.Type]
	if !ok {
		return nil, fmt.Errorf("type %d: %w", key.Type, ErrUnsupported)
	}
	if len(key.Bytes) != p.keyLen {
		return nil, fmt.Errorf("key of type %d has %d bytes instead of %d", key.Type, len(key.Bytes), p.keyLen)
	}
	var ke, ki, kc []byte
	if p.sha2 {
		ke = p.kdf(key.Bytes, usage, 0xaa, p.keyLen)
		ki = p.kdf(key.Bytes, usage, 0x55, p.sumLen)
		kc = p.kdf(key.Bytes, usage, 0x99, p.sumLen)
	} else {
		base, err := aes.NewCipher(key.Bytes)
		if err != nil {
			return nil, err
		}
		ke = derive(base, usage, 0xaa, p.keyLen)
		ki = derive(base, usage, 0x55, p.keyLen)
		kc = derive(base, usage, 0x99, p.keyLen)
	}
	block, err := aes.NewCipher(ke)
	if err != nil {
		return nil, err
	}
	c := &Cipher{profile: p, block: block, seal: hmac.New(p.hash, ki), sign: hmac.New(p.hash, kc)}
	c.enc, c.dec = newChain(cipher.NewCBCEncrypter(block, zeros[:])), newChain(cipher.NewCBCDecrypter(block, zeros[:]))
	return c, nil
}

// Overhead returns the number of bytes by which a sealed text is longer than the text.
func (c *Cipher) Overhead() int { return confounderLen + c.sumLen }

// SumLen returns the number of bytes of a checksum.
func (c *Cipher) SumLen() int { return c.sumLen }

// Seal appends the sealed form of the parts of a text to dst.
func (c *Cipher) Seal(dst []byte, parts ...[]byte) []byte {
	start := len(dst)
	dst = append(dst, zeros[:]...)
	_, _ = rand.Read(dst[start:]) // it never fails
	for _, part := range parts {
		dst = append(dst, part...)
	}
	return c.sealFrom(dst, start)
}

// sealFrom seals dst[start:], which begins with a confounder, in place.
func (c *Cipher) sealFrom(dst []byte, start int) []byte {
	text := dst[start:]
	c.seal.Reset()
	if !c.sha2 {
		c.seal.Write(text)
	}
	c.encrypt(text)
	if c.sha2 {
		c.seal.Write(zeros[:])
		c.seal.Write(text)
	}
	c.sum = c.seal.Sum(c.sum[:0])
	return append(dst, c.sum[:c.sumLen]...)
}

// Open decrypts a sealed text in place and returns the text, which aliases sealed.
func (c *Cipher) Open(sealed []byte) ([]byte, error) {
	if len(sealed) < c.Overhead() {
		return nil, fmt.Errorf("%d bytes are too short for a sealed text: %w", len(sealed), ErrForged)
	}
	text, sum := sealed[:len(sealed)-c.sumLen], sealed[len(sealed)-c.sumLen:]
	c.seal.Reset()
	if c.sha2 {
		c.seal.Write(zeros[:])
		c.seal.Write(text)
		if !c.equal(c.seal, sum) {
			return nil, ErrForged
		}
	}
	c.decrypt(text)
	if !c.sha2 {
		c.seal.Write(text)
		if !c.equal(c.seal, sum) {
			return nil, ErrForged
		}
	}
	return text[confounderLen:], nil
}

// Sum appends the checksum of the parts of a text to dst.
func (c *Cipher) Sum(dst []byte, parts ...[]byte) []byte {
	c.signed(parts)
	c.sum = c.sign.Sum(c.sum[:0])
	return append(dst, c.sum[:c.sumLen]...)
}

// Verify returns an error unless sum is the checksum of the parts of a text.
func (c *Cipher) Verify(sum []byte, parts ...[]byte) error {
	c.signed(parts)
	if !c.equal(c.sign, sum) {
		return ErrForged
	}
	return nil
}

func (c *Cipher) signed(parts [][]byte) {
	c.sign.Reset()
	for _, part := range parts {
		c.sign.Write(part)
	}
}

func (c *Cipher) equal(h hash.Hash, sum []byte) bool {
	c.sum = h.Sum(c.sum[:0])
	return subtle.ConstantTimeCompare(c.sum[:c.sumLen], sum) == 1
}

// kdf derives a key of n bytes: KDF-HMAC-SHA2 of RFC 8009, section 3.
func (p profile) kdf(key []byte, usage uint32, purpose byte, n int) []byte {
	h := hmac.New(p.hash, key)
	b := binary.BigEndian.AppendUint32(nil, 1)
	b = binary.BigEndian.AppendUint32(b, usage)
	b = append(b, purpose, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(8*n))
	h.Write(b)
	return h.Sum(nil)[:n]
}

// derive derives a key of n bytes, 16 or 32: DK of RFC 3961, section 5.1.
func derive(base cipher.Block, usage uint32, purpose byte, n int) []byte {
	block := fold(append(binary.BigEndian.AppendUint32(nil, usage), purpose), aes.BlockSize)
	out := make([]byte, 0, n)
	for len(out) < n {
		base.Encrypt(block, block)
		out = append(out, block...)
	}
	return out[:n]
}
