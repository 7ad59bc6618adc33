package gss

import (
	"testing"

	"usertrail/internal/store/secure/etype"
)

// FuzzParseReplyPart parses bytes that only a server with the ticket's key can send.
func FuzzParseReplyPart(f *testing.F) {
	f.Add([]byte("{\x1a0\x18\xa0\x11\x18\x0f20260101000000Z\xa1\x03\x02\x01\x01"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		part, err := parseReplyPart(b)
		if err != nil {
			return
		}
		key, err := etype.Generate(etype.AES256SHA1)
		if err != nil {
			t.Fatal(err)
		}
		c := &Context{key: key}
		if err := c.establish(part); err == nil != c.established {
			t.Errorf("established %v, %v", c.established, err)
		}
	})
}
