package gss_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/gss/gsstest"
)

var ids = []etype.ID{etype.AES128SHA1, etype.AES256SHA1, etype.AES128SHA256, etype.AES256SHA384}

// pair establishes a context between a client and a service.
func pair(t testing.TB, id etype.ID, r gsstest.Reply) (*gss.Context, *gsstest.Context) {
	t.Helper()
	s := gsstest.NewService(t, "hbase/rs1.test", id)
	client, token, err := gss.Initiate(s.Ticket(t, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	server, reply, err := s.Accept(token, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Establish(reply); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func TestBothSidesUnderstandEachOther(t *testing.T) {
	for _, id := range ids {
		for _, subkey := range []bool{false, true} {
			client, server := pair(t, id, gsstest.Reply{Subkey: subkey})
			if want := "alice@" + gsstest.Realm; server.Client != want {
				t.Errorf("the server takes the client for %s, want %s", server.Client, want)
			}
			for i, n := range []int{0, 1, 15, 16, 17, 4096, 100_000} {
				data, seal := bytes.Repeat([]byte{byte(i + 1)}, n), i%2 == 0
				token := client.Wrap([]byte("before"), seal, data[:n/2], data[n/2:])[len("before"):]
				if over := len(token) - n; over > client.Overhead() {
					t.Errorf("type %d: a token is %d bytes longer than its bytes, and Overhead is %d", id, over, client.Overhead())
				}
				if got, sealed, err := server.Unwrap(token); err != nil || sealed != seal || !bytes.Equal(got, data) {
					t.Errorf("type %d, %d bytes: the server reads %d, sealed %v, %v", id, n, len(got), sealed, err)
				}
				for _, rrc := range []uint16{0, 1, 28, 60, 9999} {
					ec := rrc % 5
					if got, err := client.Unwrap(server.Wrap(seal, data, ec, rrc), seal); err != nil || !bytes.Equal(got, data) {
						t.Errorf("type %d, %d bytes, rotated by %d: the client reads %d, %v", id, n, rrc, len(got), err)
					}
				}
			}
		}
	}
}

// TestNumbersOf32BitsContinue checks a server whose first number is the largest one.
func TestNumbersOf32BitsContinue(t *testing.T) {
	client, server := pair(t, etype.AES256SHA1, gsstest.Reply{FirstSent: 1<<32 - 1})
	for range 3 {
		if _, err := client.Unwrap(server.Wrap(true, []byte("x"), 0, 0), true); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServerThatDoesNotProveItselfIsRefused(t *testing.T) {
	for name, r := range map[string]gsstest.Reply{
		"another time": {TimeOff: time.Microsecond},
		"another key":  {OtherKey: true},
	} {
		s := gsstest.NewService(t, "nn/host.test", etype.AES256SHA1)
		client, token, err := gss.Initiate(s.Ticket(t, "alice"))
		if err != nil {
			t.Fatal(err)
		}
		_, reply, err := s.Accept(token, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Establish(reply); !errors.Is(err, gss.ErrServer) || client.Established() {
			t.Errorf("%s: %v, established %v; want ErrServer", name, err, client.Established())
		}
	}
}

// TestTheReplyOfAnotherContextIsRefused checks that a recorded reply proves nothing.
func TestTheReplyOfAnotherContextIsRefused(t *testing.T) {
	s := gsstest.NewService(t, "nn/host.test", etype.AES256SHA1)
	ticket := s.Ticket(t, "alice")
	_, first, err := gss.Initiate(ticket)
	if err != nil {
		t.Fatal(err)
	}
	_, recorded, err := s.Accept(first, gsstest.Reply{})
	if err != nil {
		t.Fatal(err)
	}
	client, _, err := gss.Initiate(ticket)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Establish(recorded); !errors.Is(err, gss.ErrServer) {
		t.Errorf("%v, want ErrServer", err)
	}
}

func TestAnErrorOfTheServerIsRead(t *testing.T) {
	s := gsstest.NewService(t, "nn/host.test", etype.AES256SHA1)
	client, token, err := gss.Initiate(s.Ticket(t, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	_, reply, err := s.Accept(token, gsstest.Reply{Code: gss.CodeSkew})
	if err != nil {
		t.Fatal(err)
	}
	err = client.Establish(reply)
	e, ok := errors.AsType[*gss.ServerError](err)
	if !ok || e.Code != gss.CodeSkew || e.Text != "as a test asks" || time.Since(e.Time) > time.Hour {
		t.Errorf("%#v, want the code, text and time of the server", err)
	}
	if !strings.Contains(err.Error(), "clocks differ") {
		t.Errorf("%v does not say that the clocks differ", err)
	}
}

func TestTokensThatAreNotTheNextAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		token func(s *gsstest.Context) []byte
		want  error
	}{
		"only signed": {func(s *gsstest.Context) []byte { return s.Wrap(false, []byte("x"), 0, 0) }, gss.ErrUnsealed},
		"skipped": {func(s *gsstest.Context) []byte {
			s.Skip()
			return s.Wrap(true, []byte("x"), 0, 0)
		}, gss.ErrSequence},
		"empty":   {func(*gsstest.Context) []byte { return nil }, gss.ErrToken},
		"another": {func(*gsstest.Context) []byte { return make([]byte, 100) }, gss.ErrToken},
		"cut": {func(s *gsstest.Context) []byte {
			b := s.Wrap(true, []byte("x"), 0, 0)
			return b[:len(b)-1]
		}, etype.ErrForged},
		"number changed": {func(s *gsstest.Context) []byte {
			b := s.Wrap(true, []byte("x"), 0, 0)
			b[15]++
			return b
		}, gss.ErrToken},
		"its own token": {nil, gss.ErrToken},
	} {
		client, server := pair(t, etype.AES256SHA1, gsstest.Reply{})
		var token []byte
		if c.token == nil {
			token = client.Wrap(nil, true, []byte("x"))
		} else {
			token = c.token(server)
		}
		if _, err := client.Unwrap(token, true); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	client, server := pair(t, etype.AES256SHA1, gsstest.Reply{})
	token := server.Wrap(true, []byte("x"), 0, 0)
	again := bytes.Clone(token)
	if _, err := client.Unwrap(token, true); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Unwrap(again, true); !errors.Is(err, gss.ErrSequence) {
		t.Errorf("repeated: %v, want ErrSequence", err)
	}
}

// TestEveryChangedBitIsRefused changes each bit of signed and sealed tokens.
func TestEveryChangedBitIsRefused(t *testing.T) {
	client, server := pair(t, etype.AES128SHA1, gsstest.Reply{})
	for _, seal := range []bool{false, true} {
		token := server.Wrap(seal, []byte("some bytes"), 0, 0)
		for i := range 8 * len(token) {
			b := bytes.Clone(token)
			b[i/8] ^= 1 << (i % 8)
			if got, err := client.Unwrap(b, seal); err == nil {
				t.Errorf("sealed %v, bit %d of byte %d: read %q", seal, i%8, i/8, got)
			}
		}
		if _, err := client.Unwrap(token, seal); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAKeyThatIsNotAESIsNamed(t *testing.T) {
	s := gsstest.NewService(t, "nn/host.test", etype.AES256SHA1)
	ticket := s.Ticket(t, "alice")
	ticket.Key.Type = 23
	_, _, err := gss.Initiate(ticket)
	if !errors.Is(err, etype.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "nn/host.test@"+gsstest.Realm) {
		t.Errorf("%v, want ErrUnsupported with the service", err)
	}
}

// FuzzEstablish reads responses of servers that are not known yet.
func FuzzEstablish(f *testing.F) {
	s := gsstest.NewService(f, "nn/host.test", etype.AES256SHA1)
	ticket := s.Ticket(f, "alice")
	for _, r := range []gsstest.Reply{{}, {Subkey: true}, {Code: gss.CodeSkew}} {
		_, token, err := gss.Initiate(ticket)
		if err != nil {
			f.Fatal(err)
		}
		_, reply, err := s.Accept(token, r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		client, _, err := gss.Initiate(ticket)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Establish(reply); err == nil || client.Established() {
			t.Errorf("% x establishes a context", reply)
		}
	})
}

// FuzzUnwrap reads tokens that no server made.
func FuzzUnwrap(f *testing.F) {
	_, server := pair(f, etype.AES256SHA1, gsstest.Reply{})
	f.Add(server.Wrap(true, []byte("x"), 3, 9), true)
	f.Add(server.Wrap(false, []byte("x"), 0, 0), false)
	client, _ := pair(f, etype.AES256SHA1, gsstest.Reply{})
	f.Fuzz(func(t *testing.T, token []byte, seal bool) {
		if got, err := client.Unwrap(token, seal); err == nil {
			t.Errorf("% x is read as %x", token, got)
		}
	})
}
