package sasl_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/gss/gsstest"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/sasl/sasltest"
)

// The protections, for short.
const (
	auth = sasl.Authentication
	sign = sasl.Integrity
	priv = sasl.Privacy
)

func list(p ...sasl.Protection) []sasl.Protection { return p }

func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		listed  []sasl.Protection
		least   sasl.Protection
		offered []sasl.Protection
		want    sasl.Protection // 0 is ErrWeak
	}{
		{nil, 0, list(auth), auth},
		{nil, 0, list(auth, sign, priv), auth},
		{nil, 0, list(priv), priv},
		{list(auth, sign, priv), 0, list(auth, sign, priv), priv},
		{list(auth, priv), 0, list(auth, sign), auth},
		{list(auth), 0, list(sign, priv), sign},
		{list(priv), 0, list(auth, sign), 0},
		{list(sign), 0, list(auth), 0},
		{list(sign), 0, list(priv), priv},
		{list(auth), priv, list(auth, sign), 0},
		{list(auth), priv, list(auth, priv), priv},
		{list(auth, sign), sign, list(auth, sign, priv), sign},
		{nil, sign, list(priv), priv},
		{list(auth), 0, nil, 0},
	} {
		got, err := sasl.Policy{Listed: c.listed, Least: c.least}.Choose(c.offered)
		if got != c.want || errors.Is(err, sasl.ErrWeak) != (c.want == 0) {
			t.Errorf("listed %v, least %v, offered %v: %v, %v; want %v", c.listed, c.least, c.offered, got, err, c.want)
		}
	}
	_, err := sasl.Policy{Listed: list(priv), Why: "hbase.rpc.protection"}.Choose(list(auth, sign))
	for _, part := range []string{"authentication, integrity", "privacy is required by hbase.rpc.protection"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// exchange runs an exchange to its end.
func exchange(m sasl.Mechanism, s *sasltest.Server) error {
	token, err := m.Start()
	for err == nil {
		var done bool
		if token, done, err = s.Next(token); err != nil || done {
			return err
		}
		if token, err = m.Next(token); err == nil && m.Done() && !m.LastWord() {
			return nil
		}
	}
	return err
}

func TestGSSAPIAgreesOnEachProtection(t *testing.T) {
	service := gsstest.NewService(t, "hbase/rs1.test", etype.AES256SHA1)
	for _, p := range list(auth, sign, priv) {
		server := &sasltest.Server{Service: service, Offers: list(auth, sign, priv)}
		m := sasl.NewGSSAPI(service.Ticket(t, "alice"), sasl.Policy{Listed: list(p)})
		if err := exchange(m, server); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if !m.Done() || m.Protection() != p || server.Protection() != p || server.Client() != "alice@"+gsstest.Realm {
			t.Errorf("done %v, %v here, %v there, client %s; want %v", m.Done(), m.Protection(), server.Protection(), server.Client(), p)
		}
		if (m.Layer() == nil) != (p == auth) {
			t.Errorf("%v has the layer %v", p, m.Layer())
		}
		if p != auth {
			checkStream(t, m.Layer(), server)
		}
	}
}

// checkStream writes bytes in both directions.
func checkStream(t *testing.T, l sasl.Layer, server *sasltest.Server) {
	t.Helper()
	var sent bytes.Buffer
	w := sasl.NewWriter(&sent, l)
	large := bytes.Repeat([]byte("0123456789"), 50_000)
	if err := w.WriteAll([]byte("one"), nil, large, []byte("two")); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for sent.Len() > 0 {
		data, err := server.Unwrap(nextToken(t, &sent))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > l.Most() {
			t.Errorf("a token has %d bytes, and may have %d", len(data), l.Most())
		}
		got = append(got, data...)
	}
	if want := "one" + string(large) + "two"; string(got) != want {
		t.Errorf("the server reads %d bytes of %d", len(got), len(want))
	}
	for _, data := range [][]byte{[]byte("three"), nil, large, []byte("four")} {
		appendToken(&sent, server.Wrap(data))
	}
	all, err := io.ReadAll(sasl.NewReader(&sent, l, 1<<20, nil))
	if want := "three" + string(large) + "four"; err != nil || string(all) != want {
		t.Errorf("the client reads %d bytes, %v; want %d", len(all), err, len(want))
	}
}

func nextToken(t *testing.T, in *bytes.Buffer) []byte {
	t.Helper()
	b := in.Next(4)
	return in.Next(int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3]))
}

func appendToken(out *bytes.Buffer, token []byte) {
	n := len(token)
	out.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	out.Write(token)
}

// TestTokensKeepTheServersLimit checks a server that accepts small tokens only.
func TestTokensKeepTheServersLimit(t *testing.T) {
	service := gsstest.NewService(t, "hbase/rs1.test", etype.AES256SHA1)
	server := &sasltest.Server{Service: service, Offers: list(priv), Largest: 1000}
	m := sasl.NewGSSAPI(service.Ticket(t, "alice"), sasl.Policy{Listed: list(priv)})
	if err := exchange(m, server); err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	if err := sasl.NewWriter(&sent, m.Layer()).WriteAll(make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	for sent.Len() > 0 {
		if n := len(nextToken(t, &sent)); n > 1000 {
			t.Errorf("a token of %d bytes", n)
		}
	}
}

func TestGSSAPIRefuses(t *testing.T) {
	service := gsstest.NewService(t, "hbase/rs1.test", etype.AES256SHA1)
	for name, c := range map[string]struct {
		server sasltest.Server
		want   error
	}{
		"too weak":    {sasltest.Server{Offers: list(auth, sign)}, sasl.ErrWeak},
		"no offer":    {sasltest.Server{}, sasl.ErrWeak},
		"an impostor": {sasltest.Server{Offers: list(priv), Reply: gsstest.Reply{OtherKey: true}}, gss.ErrServer},
	} {
		c.server.Service = service
		m := sasl.NewGSSAPI(service.Ticket(t, "alice"), sasl.Policy{Listed: list(priv)})
		if err := exchange(m, &c.server); !errors.Is(err, c.want) || m.Done() || m.Layer() != nil {
			t.Errorf("%s: %v, done %v; want %v", name, err, m.Done(), c.want)
		}
	}
}

// TestAListOfProtectionsCannotBeChanged removes privacy from the server's signed list.
func TestAListOfProtectionsCannotBeChanged(t *testing.T) {
	service := gsstest.NewService(t, "hbase/rs1.test", etype.AES256SHA1)
	server := &sasltest.Server{Service: service, Offers: list(auth, sign, priv)}
	m := sasl.NewGSSAPI(service.Ticket(t, "alice"), sasl.Policy{Listed: list(auth, sign, priv)})
	token, err := m.Start()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		challenge, _, err := server.Next(token)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(challenge, []byte{7, 1, 0, 0}); len(challenge) == 32 && i >= 0 {
			challenge[i] = 1
		}
		if token, err = m.Next(challenge); err != nil {
			if !errors.Is(err, etype.ErrForged) {
				t.Errorf("%v, want ErrForged", err)
			}
			return
		}
	}
	t.Errorf("the changed list is accepted: %v", m.Protection())
}

func TestReadersRefuse(t *testing.T) {
	service := gsstest.NewService(t, "hbase/rs1.test", etype.AES256SHA1)
	for name, c := range map[string]struct {
		stream func(s *sasltest.Server) []byte
		want   error
	}{
		"too long":        {func(*sasltest.Server) []byte { return []byte{0x7f, 0xff, 0xff, 0xff, 5, 4} }, sasl.ErrProtocol},
		"negative":        {func(*sasltest.Server) []byte { return []byte{0xff, 0xff, 0xff, 0xff, 5, 4} }, sasl.ErrProtocol},
		"too short":       {func(*sasltest.Server) []byte { return []byte{0, 0, 0, 2, 5, 4} }, sasl.ErrProtocol},
		"a refusal":       {func(*sasltest.Server) []byte { return []byte{0, 0, 0, 1, 5, 4} }, errShort},
		"cut":             {func(s *sasltest.Server) []byte { return append([]byte{0, 0, 0, 80}, s.Wrap([]byte("x"))...) }, io.ErrUnexpectedEOF},
		"cut in a length": {func(*sasltest.Server) []byte { return []byte{0, 0} }, io.ErrUnexpectedEOF},
	} {
		server := &sasltest.Server{Service: service, Offers: list(priv)}
		m := sasl.NewGSSAPI(service.Ticket(t, "alice"), sasl.Policy{Listed: list(priv)})
		if err := exchange(m, server); err != nil {
			t.Fatal(err)
		}
		r := sasl.NewReader(bytes.NewReader(c.stream(server)), m.Layer(), 1<<20, func(n int) error {
			if n == 1 {
				return errShort
			}
			return nil
		})
		for range 2 {
			if _, err := r.Read(make([]byte, 10)); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	}
}

var errShort = errors.New("length 1")

func TestProtectionsHaveNames(t *testing.T) {
	for _, p := range list(auth, sign, priv) {
		if got, err := sasl.ParseProtection(strings.ToUpper(p.String())); err != nil || got != p {
			t.Errorf("%s is parsed as %v, %v", p, got, err)
		}
	}
	if _, err := sasl.ParseProtection("auth-conf"); err == nil {
		t.Error("a name of another protocol is accepted")
	}
}
