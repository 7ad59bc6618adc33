package hbase

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/certs"
	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
)

func TestJudgeSecurity(t *testing.T) {
	for _, c := range []struct {
		err  error
		want remedy
		is   error
		says string
	}{
		{rpc.ErrSimple, giveUp, ErrInsecure, "hbase.security.authentication"},
		{rpc.ErrNoTLS, giveUp, ErrInsecure, "hbase.client.netty.tls.enabled"},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "rs9"}, giveUp, ErrInsecure, "another server"},
		{x509.UnknownAuthorityError{}, giveUp, ErrInsecure, "hbase.rpc.tls.truststore.location"},
		{x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired}, giveUp, ErrInsecure, "clock of this machine"},
		{tls.AlertError(116), giveUp, ErrInsecure, "hbase.rpc.tls.keystore.location"},
		{sasl.ErrWeak, giveUp, ErrInsecure, ""},
		{sasl.ErrPassword, giveUp, ErrInsecure, ""},
		{gss.ErrServer, giveUp, ErrInsecure, ""},
		{gss.ErrSequence, giveUp, ErrInsecure, ""},
		{etype.ErrForged, repeat, ErrInsecure, ""},
		{&rpc.ServerError{Class: "javax.security.sasl.SaslException", Message: "GSS initiate failed"}, repeat, ErrInsecure, "GSS initiate failed"},
		{&rpc.ServerError{Class: "javax.security.sasl.SaslException", Message: "DIGEST-MD5: digest response format violation. Mismatched response."}, repeat, ErrInsecure, token.Advice},
		{&rpc.ServerError{Class: "org.apache.hadoop.security.token.SecretManager$InvalidToken", Message: "Token has expired"}, repeat, ErrInsecure, token.Advice},
		{&rpc.ServerError{Class: pkg + "security.AccessDeniedException", Message: "Authentication is required"}, giveUp, ErrInsecure, "the cluster has Kerberos: set hbase.security.authentication to kerberos"},
		{kerberos.ErrExpired, giveUp, kerberos.ErrExpired, ""},
		{kerberos.ErrSilent, pause, ErrUnavailable, ""},
		{certs.ErrStore, giveUp, certs.ErrStore, ""},
		{io.EOF, lost, io.EOF, ""},
	} {
		for _, err := range []error{&rpc.DialError{Addr: "h:1", Err: fmt.Errorf("x: %w", c.err)}, &rpc.CallError{Err: &rpc.ConnError{Addr: "h:1", Err: c.err}}} {
			v := judge(err)
			if v.remedy != c.want || !errors.Is(v.err, c.is) || !errors.Is(v.err, err) || !strings.Contains(v.err.Error(), c.says) {
				t.Errorf("%T of %v: remedy %d, %v; want %d, %v and %q", err, c.err, v.remedy, v.err, c.want, c.is, c.says)
			}
		}
	}
}

// TestSecurityOfConfigurations checks which configurations are refused before a server is called.
func TestSecurityOfConfigurations(t *testing.T) {
	for _, c := range []struct {
		properties string // name=value, between blanks
		least      sasl.Protection
		want       string // part of the error; empty is none
		none       bool   // no security
	}{
		{"", 0, "", true},
		{"", sasl.Authentication, "--protection authentication is demanded", true},
		{"hbase.security.authentication=kerberos", sasl.Privacy, "", false},
		{"hbase.security.authentication=kerberos hbase.rpc.protection=auth-conf", 0, "hbase.rpc.protection", false},
		{"hbase.client.netty.tls.enabled=true", sasl.Privacy, "", false},
		{"hbase.client.netty.tls.enabled=true hbase.rpc.tls.ocsp=true", 0, "revoked certificates", false},
		{"hbase.client.netty.tls.enabled=true hbase.rpc.tls.truststore.location=/none.pem", 0, "/none.pem", false},
	} {
		var b strings.Builder
		for _, p := range strings.Fields(c.properties) {
			name, value, _ := strings.Cut(p, "=")
			fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>", name, value)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "hbase-site.xml"), []byte("<configuration>"+b.String()+"</configuration>"), 0o600); err != nil {
			t.Fatal(err)
		}
		conf, err := hadoopconf.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSecurity(conf, secure.New(secure.Config{Least: c.least}))
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, least %v: %v; want %q", c.properties, c.least, err, c.want)
		}
		if err == nil && (s == nil) != c.none {
			t.Errorf("%s: security %+v", c.properties, s)
		}
	}
}
