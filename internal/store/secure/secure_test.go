package secure_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
)

func TestPrincipalsOfServers(t *testing.T) {
	for configured, want := range map[string]string{
		"hbase/_HOST@REALM":  "hbase/rs1.test@REALM",
		"hbase/_HOST":        "hbase/rs1.test",
		"hbase/fixed@REALM":  "hbase/fixed@REALM",
		"hbase/fixed_HOST@R": "hbase/fixed_HOST@R",
		"":                   "hbase.regionserver.kerberos.principal is not set",
		"hbase@REALM":        `"hbase@REALM" is not SERVICE/HOST@REALM`,
		"/_HOST@REALM":       "is not SERVICE/HOST@REALM",
	} {
		got, err := secure.Principal(configured, "RS1.Test", "hbase.regionserver.kerberos.principal")
		switch {
		case err != nil && (!errors.Is(err, secure.ErrPolicy) || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v; want %q", configured, err, want)
		case err == nil && got != want:
			t.Errorf("%q: %s, want %s", configured, got, want)
		}
	}
}

func TestWhatIsDemandedIsInThePolicy(t *testing.T) {
	for _, c := range []struct {
		least  sasl.Protection
		listed []string
		sealed bool
		want   sasl.Policy
	}{
		{0, []string{"authentication", "privacy"}, false, sasl.Policy{Listed: []sasl.Protection{1, 3}, Why: "x"}},
		{sasl.Privacy, []string{"authentication"}, false, sasl.Policy{Listed: []sasl.Protection{1}, Least: 3, Why: "--protection privacy"}},
		{sasl.Privacy, []string{"authentication"}, true, sasl.Policy{Listed: []sasl.Protection{1}, Why: "x"}},
		{sasl.Authentication, nil, false, sasl.Policy{Why: "x"}},
	} {
		got, err := secure.New(secure.Config{Least: c.least}).Policy(c.listed, "x", c.sealed)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, %v, %v: %+v, %v; want %+v", c.least, c.listed, c.sealed, got, err, c.want)
		}
	}
	if _, err := secure.New(secure.Config{}).Policy([]string{"auth-conf"}, "hbase.rpc.protection", false); !errors.Is(err, secure.ErrPolicy) || !strings.Contains(err.Error(), "hbase.rpc.protection") {
		t.Errorf("an unknown protection: %v", err)
	}
	if err := secure.New(secure.Config{Least: sasl.Integrity}).Demands("it has none"); !errors.Is(err, secure.ErrPolicy) {
		t.Errorf("%v, want ErrPolicy", err)
	}
	if err := secure.New(secure.Config{}).Demands("it has none"); err != nil {
		t.Error(err)
	}
}

func TestTokensComeFromTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, token.Append(nil, []token.Token{{Kind: token.HDFS, Service: "s"}}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(token.Variable, "")
	if all, err := secure.New(secure.Config{}).Tokens(); err != nil || len(all) != 0 {
		t.Errorf("without a file: %v, %v", all, err)
	}
	t.Setenv(token.Variable, file)
	i := secure.New(secure.Config{})
	if all, err := i.Tokens(); err != nil || len(all) != 1 || all[0].Service != "s" {
		t.Errorf("%v, %v", all, err)
	}
	i.Change(func(c *secure.Config) { c.Tokens = "/none" })
	if all, err := i.Tokens(); !errors.Is(err, token.ErrFile) {
		t.Errorf("another file: %v, %v", all, err)
	}
}

func TestWithoutCredentialsThereIsNoUser(t *testing.T) {
	i := secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: "/none/krb5.conf"}})
	if user, err := i.User(); !errors.Is(err, kerberos.ErrConf) {
		t.Errorf("%q, %v; want ErrConf", user, err)
	}
	if _, err := i.GSSAPI(t.Context(), "nn/host", sasl.Policy{}); !errors.Is(err, kerberos.ErrConf) {
		t.Errorf("%v, want ErrConf", err)
	}
	i.Forget("nn/host")
}
