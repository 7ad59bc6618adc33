package sasl

import (
	"crypto/cipher"
	"crypto/des" //nolint:gosec // DIGEST-MD5 has no better cipher
	"crypto/hmac"
	"crypto/md5"
	"crypto/rc4" //nolint:gosec // as above
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
)

const (
	macLen     = 10 // of a truncated HMAC
	digestTail = 6  // bytes after it: 0001, number
)

// Layer implements Mechanism.
func (d *Digest) Layer() Layer {
	if !d.done || d.chosen <= Authentication {
		return nil
	}
	key := func(direction, use string) []byte {
		sum := md5.Sum(append(d.a1[:], "Digest "+use+" to "+direction+" key magic constant"...))
		return sum[:]
	}
	const out, in = "client-to-server", "server-to-client"
	l := &digestLayer{
		send:    digestSide{mac: hmac.New(md5.New, key(out+" signing", "session key"))},
		receive: digestSide{mac: hmac.New(md5.New, key(in+" signing", "session key"))},
		most:    min(mostSent, d.most) - macLen - digestTail - des.BlockSize,
	}
	if d.chosen == Privacy {
		l.send.cipher = newDigestCipher(d.cipher, key(out+" sealing", "H(A1)"), true)
		l.receive.cipher = newDigestCipher(d.cipher, key(in+" sealing", "H(A1)"), false)
	}
	l.most = max(l.most, 1)
	return l
}

// A digestLayer protects bytes by keys of DIGEST-MD5.
type digestLayer struct {
	send, receive digestSide
	most          int
}

// A digestSide is one direction.
type digestSide struct {
	mac    hash.Hash
	cipher digestCipher // nil if tokens are only signed
	number uint32
	sum    []byte
}

func (l *digestLayer) Most() int { return l.most }

// Least returns the length of an empty token.
func (l *digestLayer) Least() int { return macLen + digestTail }

// Wrap implements Layer.
func (l *digestLayer) Wrap(dst []byte, parts ...[]byte) []byte {
	s := &l.send
	start := len(dst)
	mac := s.begin()
	for _, p := range parts {
		mac.Write(p)
		dst = append(dst, p...)
	}
	s.sum = mac.Sum(s.sum[:0])
	if s.cipher != nil {
		dst = s.cipher.pad(dst, len(dst)-start+macLen)
	}
	dst = append(dst, s.sum[:macLen]...)
	if s.cipher != nil {
		s.cipher.crypt(dst[start:])
	}
	dst = append(dst, 0, 1)
	dst = binary.BigEndian.AppendUint32(dst, s.number)
	s.number++
	return dst
}

// begin begins the HMAC of the next token.
func (s *digestSide) begin() hash.Hash {
	s.mac.Reset()
	s.mac.Write(binary.BigEndian.AppendUint32(s.sum[:0], s.number))
	return s.mac
}

// Unwrap implements Layer.
func (l *digestLayer) Unwrap(token []byte) ([]byte, error) {
	s := &l.receive
	if len(token) < l.Least() {
		return nil, fmt.Errorf("%w: token of %d bytes", ErrProtocol, len(token))
	}
	body, tail := token[:len(token)-digestTail], token[len(token)-digestTail:]
	if tail[0] != 0 || tail[1] != 1 {
		return nil, fmt.Errorf("%w: token of kind % x", ErrProtocol, tail[:2])
	}
	if n := binary.BigEndian.Uint32(tail[2:]); n != s.number {
		return nil, fmt.Errorf("%w: number %d instead of %d", gss.ErrSequence, n, s.number)
	}
	if s.cipher != nil {
		if err := s.cipher.check(len(body)); err != nil {
			return nil, err
		}
		s.cipher.crypt(body)
	}
	text, sum := body[:len(body)-macLen], body[len(body)-macLen:]
	var err error
	if s.cipher != nil {
		// A caller must not be able to distinguish a wrong padding from a wrong sum.
		text, err = s.cipher.unpad(text)
	}
	mac := s.begin()
	mac.Write(text)
	s.sum = mac.Sum(s.sum[:0])
	if subtle.ConstantTimeCompare(s.sum[:macLen], sum) != 1 || err != nil {
		return nil, etype.ErrForged
	}
	s.number++
	return text, nil
}

// A digestCipher encrypts or decrypts tokens in place. Its state continues from token to token.
type digestCipher interface {
	pad(b []byte, n int) []byte // for n bytes in all
	unpad(b []byte) ([]byte, error)
	check(n int) error // whether n bytes can be decrypted
	crypt(b []byte)
}

// newDigestCipher returns the cipher called name. A sealing key of 3DES has 7 bytes of key 1, 7
// bytes of key 2, which is key 1 again for the third pass; the last 8 bytes of all are the initial
// vector.
func newDigestCipher(name string, key []byte, encrypt bool) digestCipher {
	if name == "rc4" {
		c, err := rc4.NewCipher(key)
		if err != nil {
			panic(err) // the key has 16 bytes
		}
		return rc4Cipher{c}
	}
	k1, k2 := spread(key[:7]), spread(key[7:14])
	block, err := des.NewTripleDESCipher(append(append(append([]byte(nil), k1...), k2...), k1...))
	if err != nil {
		panic(err) // the key has 24 bytes
	}
	if encrypt {
		return blockCipher{cipher.NewCBCEncrypter(block, key[8:])}
	}
	return blockCipher{cipher.NewCBCDecrypter(block, key[8:])}
}

// spread spreads 7 bytes over the upper 7 bits of 8 bytes. DES ignores the lowest bit.
func spread(b []byte) []byte {
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	out := make([]byte, 8)
	for i := range out {
		out[i] = byte(v>>(49-7*i)) << 1
	}
	return out
}

type rc4Cipher struct{ *rc4.Cipher }

func (rc4Cipher) pad(b []byte, _ int) []byte     { return b }
func (rc4Cipher) unpad(b []byte) ([]byte, error) { return b, nil }
func (rc4Cipher) check(int) error                { return nil }
func (c rc4Cipher) crypt(b []byte)               { c.XORKeyStream(b, b) }

type blockCipher struct{ cipher.BlockMode }

var errPadding = errors.New("padding")

func (blockCipher) pad(b []byte, n int) []byte {
	p := des.BlockSize - n%des.BlockSize
	for range p {
		b = append(b, byte(p))
	}
	return b
}

func (blockCipher) unpad(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return b, errPadding
	}
	p := int(b[len(b)-1])
	if p < 1 || p > des.BlockSize || p > len(b) {
		return b, errPadding
	}
	return b[:len(b)-p], nil
}

func (blockCipher) check(n int) error {
	if n%des.BlockSize != 0 || n < des.BlockSize+macLen-macLen%des.BlockSize {
		return fmt.Errorf("%w: sealed text of %d bytes", ErrProtocol, n)
	}
	return nil
}

func (c blockCipher) crypt(b []byte) { c.CryptBlocks(b, b) }
