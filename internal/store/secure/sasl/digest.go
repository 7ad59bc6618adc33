package sasl

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Secret is the identifier and the password of a token, with which a client of DIGEST-MD5 logs in.
type Secret struct {
	User     string
	Password string
}

// String hides the secret.
func (Secret) String() string { return "secret" }

// GoString hides the secret.
func (Secret) GoString() string { return "secret" }

// TokenSecret returns the secret of a Hadoop token: both of its parts in base64.
func TokenSecret(identifier, password []byte) Secret {
	return Secret{base64.StdEncoding.EncodeToString(identifier), base64.StdEncoding.EncodeToString(password)}
}

// qops are the names of protections in DIGEST-MD5.
var qops = []string{Authentication: "auth", Integrity: "auth-int", Privacy: "auth-conf"}

// Digest authenticates a client by a token.
type Digest struct {
	policy Policy
	secret Secret
	uri    string // protocol/server

	nonce, cnonce string
	a1            [md5.Size]byte
	step          int
	chosen        Protection
	cipher        string
	most          int
	done          bool
}

// NewDigest returns the mechanism for a token and the name that the server has in a protocol.
func NewDigest(s Secret, protocol, server string, p Policy) *Digest {
	return &Digest{secret: s, uri: protocol + "/" + server, policy: p}
}

// Name implements Mechanism.
func (d *Digest) Name() string { return "DIGEST-MD5" }

// Start implements Mechanism. The server speaks first.
func (d *Digest) Start() ([]byte, error) { return nil, nil }

// Next implements Mechanism.
func (d *Digest) Next(token []byte) ([]byte, error) {
	d.step++
	switch d.step {
	case 1:
		return d.respond(token)
	case 2:
		return nil, d.verify(token)
	}
	return nil, fmt.Errorf("%w: a token that no step expects", ErrProtocol)
}

// respond returns the response to the server's challenge.
func (d *Digest) respond(token []byte) ([]byte, error) {
	c, err := parseChallenge(token)
	if err != nil {
		return nil, err
	}
	if d.chosen, err = d.policy.Choose(c.offered()); err != nil {
		return nil, err
	}
	if d.chosen == Privacy {
		if d.cipher, err = c.chooseCipher(); err != nil {
			return nil, err
		}
	}
	d.nonce, d.most = c.nonce, c.maxbuf
	var random [24]byte
	_, _ = rand.Read(random[:]) // it never fails
	d.cnonce = base64.StdEncoding.EncodeToString(random[:])
	inner := md5.Sum([]byte(d.secret.User + ":" + c.realm + ":" + d.secret.Password))
	d.a1 = md5.Sum(append(inner[:], ":"+d.nonce+":"+d.cnonce...))

	var b strings.Builder
	fmt.Fprintf(&b, "charset=utf-8,username=%s,realm=%s,nonce=%s,nc=00000001,cnonce=%s,digest-uri=%s,maxbuf=%d,response=%s,qop=%s",
		quote(d.secret.User), quote(c.realm), quote(d.nonce), quote(d.cnonce), quote(d.uri), mostSent, d.proof("AUTHENTICATE"), qops[d.chosen])
	if d.cipher != "" {
		fmt.Fprintf(&b, ",cipher=%s", quote(d.cipher))
	}
	return []byte(b.String()), nil
}

// proof returns the proof that a side knows the password.
func (d *Digest) proof(method string) string {
	a2 := method + ":" + d.uri
	if d.chosen != Authentication {
		a2 += ":00000000000000000000000000000000"
	}
	return digestHex(hex.EncodeToString(d.a1[:]) + ":" + d.nonce + ":00000001:" + d.cnonce + ":" + qops[d.chosen] + ":" + digestHex(a2))
}

func digestHex(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// verify checks the server's proof.
func (d *Digest) verify(token []byte) error {
	fields, err := parseFields(token)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(fields["rspauth"]), []byte(d.proof(""))) != 1 {
		return ErrPassword
	}
	d.done = true
	return nil
}

// Done implements Mechanism.
func (d *Digest) Done() bool { return d.done }

// LastWord implements Mechanism.
func (d *Digest) LastWord() bool { return false }

// Protection implements Mechanism.
func (d *Digest) Protection() Protection { return d.chosen }

// A challenge is the first token of a server.
type challenge struct {
	realm, nonce string
	qop, ciphers []string
	maxbuf       int
}

// parseChallenge parses a challenge.
func parseChallenge(token []byte) (*challenge, error) {
	f, err := parseFields(token)
	if err != nil {
		return nil, err
	}
	c := &challenge{realm: f["realm"], nonce: f["nonce"], qop: list(f["qop"], "auth"), ciphers: list(f["cipher"], ""), maxbuf: mostSent}
	if c.nonce == "" || !strings.EqualFold(f["algorithm"], "md5-sess") {
		return nil, fmt.Errorf("%w: no challenge of DIGEST-MD5", ErrProtocol)
	}
	if text, ok := f["maxbuf"]; ok {
		if c.maxbuf, err = strconv.Atoi(text); err != nil || c.maxbuf < 1 {
			return nil, fmt.Errorf("%w: maxbuf %q", ErrProtocol, text)
		}
	}
	return c, nil
}

func list(s, usual string) []string {
	if s == "" {
		s = usual
	}
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// offered returns the protections of the challenge.
func (c *challenge) offered() []Protection {
	var out []Protection
	for p := Authentication; p <= Privacy; p++ {
		if slices.Contains(c.qop, qops[p]) {
			out = append(out, p)
		}
	}
	return out
}

// chooseCipher returns the cipher of sealed texts. RC4 is ten times as fast as 3DES.
func (c *challenge) chooseCipher() (string, error) {
	for _, name := range []string{"rc4", "3des"} {
		if slices.Contains(c.ciphers, name) {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: it offers the ciphers %q, and rc4 or 3des is needed", ErrWeak, c.ciphers)
}

// parseFields parses name=value and name="value" between commas. In quotes a backslash stands
// before a character that stands for itself. If a realm is repeated, the first one counts. Other names must not be repeated.
func parseFields(token []byte) (map[string]string, error) {
	fields := map[string]string{}
	for rest := string(token); ; {
		rest = strings.TrimLeft(rest, ", \t\r\n")
		if rest == "" {
			return fields, nil
		}
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, fmt.Errorf("%w: %q has no value", ErrProtocol, brief(rest))
		}
		name = strings.ToLower(strings.TrimSpace(name))
		value, tail, err := parseValue(strings.TrimLeft(after, " \t"))
		if err != nil {
			return nil, err
		}
		if _, twice := fields[name]; twice && name != "realm" {
			return nil, fmt.Errorf("%w: %q comes twice", ErrProtocol, brief(name))
		} else if !twice {
			fields[name] = value
		}
		rest = tail
	}
}

// parseValue returns the value at the beginning of s, and what follows it.
func parseValue(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		i := strings.IndexByte(s, ',')
		if i < 0 {
			i = len(s)
		}
		return strings.TrimSpace(s[:i]), s[i:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("%w: a quote is not closed", ErrProtocol)
}

func brief(s string) string { return s[:min(len(s), 40)] }

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
