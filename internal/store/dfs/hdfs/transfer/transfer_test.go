package transfer

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/secure/sasl"
)

// operation returns an operation with a block token.
func operation(identifier, password string) []byte {
	field := func(num protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), v)
	}
	token := append(field(1, []byte(identifier)), field(2, []byte(password))...)
	header := field(1, field(1, append(field(1, []byte("block")), field(2, token)...)))
	return protowire.AppendBytes([]byte{0, version, 0x51}, append(header, 16, 0, 24, 5))
}

func TestTheBlockTokenIsFound(t *testing.T) {
	op := operation("identifier", "password")
	for n := range len(op) {
		if _, whole, err := parseOperation(op[:n]); whole || err != nil {
			t.Errorf("%d bytes of %d: whole %v, %v", n, len(op), whole, err)
		}
	}
	tok, whole, err := parseOperation(append(op, 1, 2, 3))
	if string(tok.Identifier) != "identifier" || string(tok.Password) != "password" || !whole || err != nil {
		t.Errorf("%q, whole %v, %v", tok.Identifier, whole, err)
	}
	for _, bad := range [][]byte{{0, 1, 0x51}, protowire.AppendBytes([]byte{0, version, 0x51}, []byte{10, 0}), {0, version, 0x51, 0}} {
		if _, _, err := parseOperation(bad); err == nil {
			t.Errorf("% x is an operation", bad)
		}
	}
}

// dataNode responds to the bytes that a client sends first with said.
func dataNode(t *testing.T, said []byte, cfg Config) *Conn {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close() })
	go func() {
		go func() { _, _ = io.Copy(io.Discard, b) }()
		_, _ = b.Write(said)
		b.Close()
	}()
	return New(a, cfg)
}

func TestDataNodesThatDoNotFitAreRefused(t *testing.T) {
	challenge := `realm="0",nonce="Zm9v",qop="auth",charset=utf-8,algorithm=md5-sess`
	for name, c := range map[string]struct {
		said []byte
		is   error
	}{
		"a refusal":       {protowire.AppendBytes(nil, append([]byte{8, 2, 26, 7}, "expired"...)), ErrRefused},
		"too weak":        {frame(message{payload: []byte(challenge)}), sasl.ErrWeak},
		"no challenge":    {frame(message{payload: []byte("hello")}), sasl.ErrProtocol},
		"a long message":  {[]byte{0xff, 0xff, 0xff, 0x7f}, sasl.ErrProtocol},
		"an endless size": {bytes.Repeat([]byte{0xff}, 20), sasl.ErrProtocol},
		"nothing":         {nil, io.EOF},
		"a false proof":   {append(frame(message{payload: []byte(challenge)}), frame(message{payload: []byte("rspauth=00")})...), sasl.ErrPassword},
	} {
		policy := sasl.Policy{Listed: []sasl.Protection{sasl.Privacy}}
		if name == "a false proof" {
			policy = sasl.Policy{}
		}
		conn := dataNode(t, c.said, Config{Policy: policy})
		op := operation("identifier", "password")
		if n, err := conn.Write(op[:5]); n != 5 || err != nil {
			t.Errorf("%s: a part of the operation: %d, %v", name, n, err)
		}
		for range 2 {
			if _, err := conn.Write(op[5:]); !errors.Is(err, c.is) {
				t.Errorf("%s: %v, want %v", name, err, c.is)
			}
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, c.is) {
			t.Errorf("%s: read: %v, want %v", name, err, c.is)
		}
	}
}

// FuzzDataNode reads messages of servers that are not known yet.
func FuzzDataNode(f *testing.F) {
	f.Add(frame(message{payload: []byte(`realm="0",nonce="Zm9v",qop="auth-conf",cipher="rc4",algorithm=md5-sess`)}))
	f.Add(protowire.AppendBytes(nil, append([]byte{8, 0, 34, 8, 8, 2, 18, 0, 26, 0, 34, 0, 42, 0}, 18, 0)))
	f.Fuzz(func(t *testing.T, said []byte) {
		conn := dataNode(t, said, Config{Policy: sasl.Policy{Listed: []sasl.Protection{sasl.Authentication, sasl.Privacy}}, AES: true})
		if _, err := conn.Write(operation("identifier", "password")); err == nil {
			t.Errorf("% x secures a connection", said)
		}
	})
}
