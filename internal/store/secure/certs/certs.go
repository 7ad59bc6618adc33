// Package certs makes TLS configurations of clients from the key stores and trust stores that
// Hadoop's configuration names:
//
//	PEM      certificates; a key store has a private key in PKCS#8, PKCS#1 or SEC 1 and its certificates
//	PKCS12   with a password; a trust store is one that keytool has made
//
// JKS and BCFKS are refused by name.
package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"software.sslmate.com/src/go-pkcs12"

	"usertrail/internal/run/exit"
)

// ErrStore is wrapped if a key store or a trust store cannot be used.
var ErrStore = exit.New(exit.Usage, "certificates of TLS")

// A Store is a file with keys or certificates.
type Store struct {
	File     string // empty: none
	Type     string // pem or pkcs12; by the ending of the file's name if empty
	Password string
}

// String returns the file and not the password.
func (s Store) String() string { return s.File }

// GoString is the same as String.
func (s Store) GoString() string { return s.File }

// A Client has the authorities that a client trusts, and its own certificate.
type Client struct {
	Trust    Store // authorities; the system's if there is no file
	Key      Store // the client's certificate; none if there is no file
	AnyName  bool  // a server's certificate need not be for its name
	Versions []string
}

// Config returns the configuration of TLS. It accepts TLS 1.2 and 1.3, unless Versions, such as
// TLSv1.3, lists others.
func (c Client) Config() (*tls.Config, error) {
	cfg := &tls.Config{}
	var err error
	if cfg.MinVersion, cfg.MaxVersion, err = versions(c.Versions); err != nil {
		return nil, err
	}
	if c.Trust.File != "" {
		if cfg.RootCAs, err = c.Trust.authorities(); err != nil {
			return nil, wrong("trust store", c.Trust, err)
		}
	}
	if c.Key.File != "" {
		certificate, err := c.Key.certificate()
		if err != nil {
			return nil, wrong("key store", c.Key, err)
		}
		cfg.Certificates = []tls.Certificate{certificate}
	}
	if c.AnyName {
		cfg.InsecureSkipVerify = true //nolint:gosec // verifyChain does it, but for the name
		cfg.VerifyConnection = verifyChain(cfg.RootCAs)
	}
	return cfg, nil
}

func wrong(what string, s Store, err error) error {
	var path *os.PathError
	if errors.As(err, &path) { // names the file
		return fmt.Errorf("%w: %s: %w", ErrStore, what, err)
	}
	return fmt.Errorf("%w: %s %s: %w", ErrStore, what, s.File, err)
}

// verifyChain verifies a server's certificate without its name.
func verifyChain(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(o)
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
		}
		return nil
	}
}

// versions returns the range of the versions that are listed by Java's names.
func versions(listed []string) (least, most uint16, err error) {
	if len(listed) == 0 {
		return tls.VersionTLS12, tls.VersionTLS13, nil
	}
	for _, name := range listed {
		var v uint16
		switch strings.ToUpper(name) {
		case "TLSV1.2":
			v = tls.VersionTLS12
		case "TLSV1.3":
			v = tls.VersionTLS13
		case "TLS", "TLSV1", "TLSV1.1", "SSLV2HELLO": // older versions are not offered
			continue
		default:
			return 0, 0, fmt.Errorf("%w: %q is no version of TLS such as TLSv1.3", ErrStore, name)
		}
		if least == 0 || v < least {
			least = v
		}
		most = max(most, v)
	}
	if most == 0 {
		return 0, 0, fmt.Errorf("%w: %s are too old: list TLSv1.2 or TLSv1.3", ErrStore, strings.Join(listed, ", "))
	}
	return least, most, nil
}

// kind returns the type of the store.
func (s Store) kind() (string, error) {
	kind := strings.ToLower(s.Type)
	if kind == "" {
		kind = strings.TrimPrefix(strings.ToLower(filepath.Ext(s.File)), ".")
	}
	switch kind {
	case "pem":
		return "pem", nil
	case "pkcs12", "p12", "pfx":
		return "pkcs12", nil
	case "jks", "bcfks", "jceks":
		return "", fmt.Errorf("stores of the type %s are not supported: make a PKCS12 store by keytool -importkeystore -srckeystore %s -destkeystore %[2]s.p12 -deststoretype PKCS12", kind, s.File)
	}
	return "", fmt.Errorf("its type %q is not pem or pkcs12: set the type next to the location", kind)
}

// authorities reads a trust store.
func (s Store) authorities() (*x509.CertPool, error) {
	kind, err := s.kind()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(s.File)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if kind == "pem" {
		if !pool.AppendCertsFromPEM(b) {
			return nil, errors.New("it has no certificate")
		}
		return pool, nil
	}
	all, err := pkcs12.DecodeTrustStore(b, s.Password)
	if err != nil {
		return nil, explain(err)
	}
	for _, c := range all {
		pool.AddCert(c)
	}
	return pool, nil
}

// certificate reads a key store.
func (s Store) certificate() (tls.Certificate, error) {
	kind, err := s.kind()
	if err != nil {
		return tls.Certificate{}, err
	}
	b, err := os.ReadFile(s.File)
	if err != nil {
		return tls.Certificate{}, err
	}
	if kind == "pem" {
		if block, _ := pem.Decode(b); block != nil && (strings.Contains(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "") {
			return tls.Certificate{}, errors.New("its key is encrypted, which is not supported in PEM: make a PKCS12 store by openssl pkcs12 -export")
		}
		return tls.X509KeyPair(b, bytes.Clone(b))
	}
	key, leaf, chain, err := pkcs12.DecodeChain(b, s.Password)
	if err != nil {
		return tls.Certificate{}, explain(err)
	}
	c := tls.Certificate{PrivateKey: key, Leaf: leaf, Certificate: [][]byte{leaf.Raw}}
	for _, more := range chain {
		c.Certificate = append(c.Certificate, more.Raw)
	}
	return c, nil
}

// explain returns the cause of an error of the library in words.
func explain(err error) error {
	if errors.Is(err, pkcs12.ErrIncorrectPassword) {
		return errors.New("the store has another password")
	}
	return err
}
