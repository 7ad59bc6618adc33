package sasl

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
)

// TestDigestVectors has the example of RFC 2831, section 4.
func TestDigestVectors(t *testing.T) {
	d := NewDigest(Secret{"chris", "secret"}, "imap", "elwood.innosoft.com", Policy{})
	d.nonce, d.cnonce, d.chosen = "OA6MG9tEQGm2hh", "OA6MHXh6VqTrRk", Authentication
	inner := md5.Sum([]byte("chris:elwood.innosoft.com:secret"))
	d.a1 = md5.Sum(append(inner[:], ":"+d.nonce+":"+d.cnonce...))
	if got, want := d.proof("AUTHENTICATE"), "d388dad90d4bbd760a152321f2143af7"; got != want {
		t.Errorf("response %s, want %s", got, want)
	}
	if err := d.verify([]byte("rspauth=ea40f60335c427b5527b84dbabcdfffd")); err != nil || !d.Done() {
		t.Errorf("the server's proof: %v", err)
	}
}

// TestKeysOf3DES checks that 56 bits become the upper 7 bits of 8 bytes, in their order.
func TestKeysOf3DES(t *testing.T) {
	for in, want := range map[string]string{
		"ffffffffffffff": "fefefefefefefefe",
		"00000000000000": "0000000000000000",
		"80000000000001": "8000000000000002",
		"01020304050607": "008080604028180e",
	} {
		b, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(spread(b)); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// A digestServer is the server's side of one exchange.
type digestServer struct {
	secret    Secret
	challenge string
	client    map[string]string
	*Digest   // with the values of the exchange
}

const usualChallenge = `realm="default",nonce="Zm9v",qop="auth,auth-int,auth-conf",charset=utf-8,cipher="3des,rc4,des",algorithm=md5-sess`

// verify checks the client's response and returns the server's proof.
func (s *digestServer) verify(response []byte) ([]byte, error) {
	f, err := parseFields(response)
	if err != nil {
		return nil, err
	}
	s.client = f
	p := Protection(0)
	for q := Authentication; q <= Privacy; q++ {
		if f["qop"] == qops[q] {
			p = q
		}
	}
	s.Digest = &Digest{uri: f["digest-uri"], nonce: f["nonce"], cnonce: f["cnonce"], chosen: p, cipher: f["cipher"], most: mostSent, done: true}
	inner := md5.Sum([]byte(f["username"] + ":" + f["realm"] + ":" + s.secret.Password))
	s.a1 = md5.Sum(append(inner[:], ":"+s.nonce+":"+s.cnonce...))
	if f["response"] != s.proof("AUTHENTICATE") || f["username"] != s.secret.User {
		return nil, errors.New("wrong response")
	}
	return []byte("rspauth=" + s.proof("")), nil
}

// serverLayer returns the layer of the server's side.
func (s *digestServer) serverLayer() *digestLayer {
	l := s.Layer().(*digestLayer)
	l.send, l.receive = l.receive, l.send
	if s.chosen == Privacy { // the ciphers encrypt in the other direction
		key := func(direction string) []byte {
			sum := md5.Sum(append(s.a1[:], "Digest H(A1) to "+direction+" sealing key magic constant"...))
			return sum[:]
		}
		l.send.cipher = newDigestCipher(s.cipher, key("server-to-client"), true)
		l.receive.cipher = newDigestCipher(s.cipher, key("client-to-server"), false)
	}
	return l
}

func TestDigestAgreesOnEachProtection(t *testing.T) {
	secret := TokenSecret([]byte("\x00identifier\xff"), []byte("password"))
	for _, ciphers := range []string{"3des,rc4", "3des"} {
		for p := Authentication; p <= Privacy; p++ {
			server := &digestServer{secret: secret, challenge: strings.Replace(usualChallenge, "3des,rc4,des", ciphers, 1)}
			d := NewDigest(secret, "hdfs", "0", Policy{Listed: []Protection{p}})
			response, err := d.Next([]byte(server.challenge))
			if err != nil {
				t.Fatal(err)
			}
			proof, err := server.verify(response)
			if err != nil {
				t.Fatal(err)
			}
			if server.client["digest-uri"] != "hdfs/0" {
				t.Errorf("digest-uri %s", server.client["digest-uri"])
			}
			if response, err := d.Next(proof); err != nil || len(response) > 0 || !d.Done() || d.Protection() != p {
				t.Fatalf("%v: response %q, %v, done %v", p, response, err, d.Done())
			}
			if p == Authentication {
				if d.Layer() != nil {
					t.Error("authentication has a layer")
				}
				continue
			}
			checkLayers(t, d.Layer(), server.serverLayer())
		}
	}
}

// checkLayers sends bytes in both directions.
func checkLayers(t *testing.T, client, server Layer) {
	t.Helper()
	for _, way := range []struct{ from, to Layer }{{client, server}, {server, client}} {
		var sent bytes.Buffer
		w := NewWriter(&sent, way.from)
		want := ""
		for _, n := range []int{1, 2, 5, 6, 7, 8, 100, 200_000} {
			piece := strings.Repeat(string(rune('a'+n%26)), n)
			want += piece
			if err := w.WriteAll([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := io.ReadAll(NewReader(&sent, way.to, mostSent, nil))
		if err != nil || string(got) != want {
			t.Errorf("%d bytes of %d arrive, %v", len(got), len(want), err)
		}
	}
}

func TestDigestRefuses(t *testing.T) {
	secret := Secret{"user", "password"}
	for name, c := range map[string]struct {
		challenge string
		policy    Policy
		want      error
	}{
		"no nonce":         {`realm="default",qop="auth",algorithm=md5-sess`, Policy{}, ErrProtocol},
		"two nonces":       {`nonce="a",nonce="b",algorithm=md5-sess`, Policy{}, ErrProtocol},
		"no algorithm":     {`nonce="a"`, Policy{}, ErrProtocol},
		"an open quote":    {`nonce="a,algorithm=md5-sess`, Policy{}, ErrProtocol},
		"no value":         {`nonce`, Policy{}, ErrProtocol},
		"negative maxbuf":  {`nonce="a",maxbuf=-1,algorithm=md5-sess`, Policy{}, ErrProtocol},
		"privacy stripped": {`nonce="a",qop="auth,auth-int",algorithm=md5-sess`, Policy{Listed: []Protection{Privacy}}, ErrWeak},
		"weak ciphers":     {`nonce="a",qop="auth-conf",cipher="des,rc4-40",algorithm=md5-sess`, Policy{Listed: []Protection{Privacy}}, ErrWeak},
	} {
		d := NewDigest(secret, "hdfs", "0", c.policy)
		if _, err := d.Next([]byte(c.challenge)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	d := NewDigest(secret, "hdfs", "0", Policy{})
	if _, err := d.Next([]byte(usualChallenge)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Next([]byte("rspauth=00000000000000000000000000000000")); !errors.Is(err, ErrPassword) || d.Done() {
		t.Errorf("a false proof: %v, done %v", err, d.Done())
	}
}

func TestDigestTokensThatAreNotTheNextAreRefused(t *testing.T) {
	secret := Secret{"user", "password"}
	for _, cipher := range []string{"rc4", "3des"} {
		for p := Integrity; p <= Privacy; p++ {
			for name, c := range map[string]struct {
				change func(server *digestLayer, token []byte) []byte
				want   error
			}{
				"skipped": {func(s *digestLayer, _ []byte) []byte { return s.Wrap(nil, []byte("x")) }, gss.ErrSequence},
				"changed": {func(_ *digestLayer, b []byte) []byte { b[0] ^= 1; return b }, etype.ErrForged},
				"cut":     {func(_ *digestLayer, b []byte) []byte { return b[:8] }, ErrProtocol},
				"kind":    {func(_ *digestLayer, b []byte) []byte { b[len(b)-5] = 2; return b }, ErrProtocol},
			} {
				server := &digestServer{secret: secret}
				d := NewDigest(secret, "hdfs", "0", Policy{Listed: []Protection{p}})
				response, err := d.Next([]byte(strings.Replace(usualChallenge, "3des,rc4,des", cipher, 1)))
				if err != nil {
					t.Fatal(err)
				}
				proof, err := server.verify(response)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Next(proof); err != nil {
					t.Fatal(err)
				}
				l := server.serverLayer()
				token := l.Wrap(nil, []byte("some bytes"))
				if _, err := d.Layer().Unwrap(c.change(l, token)); !errors.Is(err, c.want) {
					t.Errorf("%s, %v, %s: %v, want %v", cipher, p, name, err, c.want)
				}
			}
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	s := Secret{"user-1", "hidden"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, s); strings.Contains(got, "hidden") || strings.Contains(got, "user-1") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

// FuzzDigest reads challenges and proofs of servers that are not known yet.
func FuzzDigest(f *testing.F) {
	f.Add([]byte(usualChallenge), []byte("rspauth=00"))
	f.Add([]byte(`nonce="\"",qop=auth-conf , cipher="3des" ,algorithm=MD5-sess,maxbuf=1,`), []byte(``))
	f.Fuzz(func(t *testing.T, challenge, proof []byte) {
		d := NewDigest(Secret{"user", "password"}, "hdfs", "0", Policy{Listed: []Protection{Authentication, Integrity, Privacy}})
		if _, err := d.Next(challenge); err != nil {
			return
		}
		if _, err := d.Next(proof); err == nil || d.Done() || d.Layer() != nil {
			t.Errorf("%q and %q are accepted", challenge, proof)
		}
	})
}

// FuzzDigestLayer reads tokens that no server made.
func FuzzDigestLayer(f *testing.F) {
	f.Add([]byte("0123456789\x00\x01\x00\x00\x00\x00"), true, true)
	f.Add([]byte("0123456789abcdef\x00\x01\x00\x00\x00\x00"), true, false)
	f.Fuzz(func(t *testing.T, token []byte, seal, rc4 bool) {
		d := &Digest{done: true, chosen: Integrity, cipher: "3des", most: mostSent}
		if seal {
			d.chosen = Privacy
		}
		if rc4 {
			d.cipher = "rc4"
		}
		if text, err := d.Layer().Unwrap(token); err == nil {
			t.Errorf("% x is read as %x", token, text)
		}
	})
}
