package certs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"usertrail/internal/store/secure/certs"
)

// A pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue returns a certificate for the loopback with the given name, made by an authority, or by
// itself.
func issue(t testing.TB, name string, by *pair) *pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: by == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if by == nil {
		by = &pair{tmpl, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, by.cert, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{cert, key}
}

func (p *pair) pem(t testing.TB) []byte {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), p.certificate()...)
}

func (p *pair) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cert.Raw})
}

func file(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// stores writes the stores of an authority and a client in both types.
func stores(t *testing.T, ca, client *pair) map[string]certs.Client {
	t.Helper()
	trust, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca.cert}, "changeit")
	if err != nil {
		t.Fatal(err)
	}
	key, err := pkcs12.Modern.Encode(client.key, client.cert, []*x509.Certificate{ca.cert}, "changeit")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]certs.Client{
		"pem":                   {Trust: certs.Store{File: file(t, "ca.pem", ca.certificate())}, Key: certs.Store{File: file(t, "client.pem", client.pem(t))}},
		"pkcs12":                {Trust: certs.Store{File: file(t, "trust.p12", trust), Password: "changeit"}, Key: certs.Store{File: file(t, "key.pkcs12", key), Password: "changeit"}},
		"types without endings": {Trust: certs.Store{File: file(t, "trust", trust), Type: "PKCS12", Password: "changeit"}, Key: certs.Store{File: file(t, "key", client.pem(t)), Type: "PEM"}},
	}
}

// shake makes a TLS connection to a server, and returns the errors of both sides.
func shake(t *testing.T, server *tls.Config, client *tls.Config, name string) (clientErr, serverErr error) {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	done := make(chan error, 1)
	go func() {
		c := tls.Server(b, server)
		err := c.Handshake()
		if err == nil {
			_, err = c.Write([]byte("x")) // TLS 1.3: the client's certificate is checked by now
		}
		b.Close()
		done <- err
	}()
	client = client.Clone()
	client.ServerName = name
	c := tls.Client(a, client)
	clientErr = c.Handshake()
	if clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1))
	}
	a.Close()
	return clientErr, <-done
}

func TestBothSidesAreVerified(t *testing.T) {
	ca := issue(t, "ca", nil)
	host, user := issue(t, "rs1.test", ca), issue(t, "alice", ca)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	server := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{host.cert.Raw}, PrivateKey: host.key}},
		ClientCAs:    pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
	for name, s := range stores(t, ca, user) {
		cfg, err := s.Config()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if mine, theirs := shake(t, server, cfg, "rs1.test"); mine != nil || theirs != nil {
			t.Errorf("%s: %v, %v", name, mine, theirs)
		}
		mine, _ := shake(t, server, cfg, "rs2.test")
		if _, other := errors.AsType[x509.HostnameError](mine); !other {
			t.Errorf("%s: another name: %v", name, mine)
		}
		s.AnyName = true
		if cfg, err = s.Config(); err != nil {
			t.Fatal(err)
		}
		if mine, theirs := shake(t, server, cfg, "rs2.test"); mine != nil || theirs != nil {
			t.Errorf("%s: any name: %v, %v", name, mine, theirs)
		}
		s.Trust = certs.Store{File: file(t, "other.pem", issue(t, "other", nil).certificate())}
		for _, s.AnyName = range []bool{false, true} {
			if cfg, err = s.Config(); err != nil {
				t.Fatal(err)
			}
			mine, _ := shake(t, server, cfg, "rs1.test")
			if _, unknown := errors.AsType[x509.UnknownAuthorityError](mine); !unknown {
				t.Errorf("%s: an unknown authority, any name %v: %v", name, s.AnyName, mine)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		listed []string
		least  uint16
		most   uint16
	}{
		{nil, tls.VersionTLS12, tls.VersionTLS13},
		{[]string{"TLSv1.2"}, tls.VersionTLS12, tls.VersionTLS12},
		{[]string{"TLSv1.3", "TLSv1.2", "TLSv1.1"}, tls.VersionTLS12, tls.VersionTLS13},
		{[]string{"TLSv1.3"}, tls.VersionTLS13, tls.VersionTLS13},
	} {
		cfg, err := certs.Client{Versions: c.listed}.Config()
		if err != nil || cfg.MinVersion != c.least || cfg.MaxVersion != c.most || cfg.InsecureSkipVerify {
			t.Errorf("%v: %x to %x, %v; want %x to %x", c.listed, cfg.MinVersion, cfg.MaxVersion, err, c.least, c.most)
		}
	}
	for _, listed := range [][]string{{"TLSv1.1"}, {"TLSv2"}} {
		if _, err := (certs.Client{Versions: listed}).Config(); !errors.Is(err, certs.ErrStore) {
			t.Errorf("%v: %v, want ErrStore", listed, err)
		}
	}
}

func TestStoresThatCannotBeUsedAreNamed(t *testing.T) {
	ca := issue(t, "ca", nil)
	trust, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca.cert}, "changeit")
	if err != nil {
		t.Fatal(err)
	}
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})
	for name, c := range map[string]struct {
		client certs.Client
		want   string
	}{
		"no file":        {certs.Client{Trust: certs.Store{File: "/none/trust.pem"}}, "/none/trust.pem"},
		"no certificate": {certs.Client{Trust: certs.Store{File: file(t, "trust.pem", nil)}}, "it has no certificate"},
		"wrong password": {certs.Client{Trust: certs.Store{File: file(t, "trust.p12", trust), Password: "hidden"}}, "the store has another password"},
		"JKS":            {certs.Client{Trust: certs.Store{File: "trust.jks"}}, "type jks are not supported: make a PKCS12 store by keytool"},
		"BCFKS":          {certs.Client{Key: certs.Store{File: "key", Type: "BCFKS"}}, "type bcfks are not supported"},
		"no type":        {certs.Client{Key: certs.Store{File: "key.store"}}, `its type "store" is not pem or pkcs12`},
		"encrypted key":  {certs.Client{Key: certs.Store{File: file(t, "key.pem", encrypted)}}, "its key is encrypted"},
		"no key":         {certs.Client{Key: certs.Store{File: file(t, "key.pem", ca.certificate())}}, "key store"},
	} {
		_, err := c.client.Config()
		if !errors.Is(err, certs.ErrStore) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v; want ErrStore and %q", name, err, c.want)
		}
	}
}
