package etype

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
)

// A chain is a mode of CBC that is used again for each text.
type chain interface {
	cipher.BlockMode
	SetIV([]byte)
}

// newChain returns a mode that package cipher has made. All of them have SetIV.
func newChain(m cipher.BlockMode) chain { return m.(chain) }

// tail returns the lengths of the parts of a text of n bytes, n > 16: the blocks before the last
// two, and the last block, which may be incomplete.
func tail(n int) (head, last int) {
	last = n % aes.BlockSize
	if last == 0 {
		last = aes.BlockSize
	}
	return n - last - aes.BlockSize, last
}

// encrypt encrypts a text of at least 16 bytes in place.
func (c *Cipher) encrypt(text []byte) {
	c.enc.SetIV(zeros[:])
	if len(text) == aes.BlockSize {
		c.enc.CryptBlocks(text, text)
		return
	}
	head, last := tail(len(text))
	c.enc.CryptBlocks(text[:head+aes.BlockSize], text[:head+aes.BlockSize])
	var final [aes.BlockSize]byte
	copy(final[:], text[head+aes.BlockSize:])
	c.enc.CryptBlocks(final[:], final[:])
	copy(text[head+aes.BlockSize:], text[head:head+last])
	copy(text[head:], final[:])
}

// decrypt decrypts what encrypt has encrypted, in place.
func (c *Cipher) decrypt(text []byte) {
	c.dec.SetIV(zeros[:])
	if len(text) == aes.BlockSize {
		c.dec.CryptBlocks(text, text)
		return
	}
	head, last := tail(len(text))
	before := zeros
	if head > 0 {
		copy(before[:], text[head-aes.BlockSize:head])
	}
	c.dec.CryptBlocks(text[:head], text[:head])

	var final, stolen [aes.BlockSize]byte
	c.block.Decrypt(final[:], text[head:head+aes.BlockSize])
	copy(stolen[:], final[:])
	copy(stolen[:], text[head+aes.BlockSize:]) // the rest of this block is the rest of final
	subtle.XORBytes(text[head+aes.BlockSize:], final[:last], stolen[:last])
	c.block.Decrypt(final[:], stolen[:])
	subtle.XORBytes(text[head:head+aes.BlockSize], final[:], before[:])
}
