package kerberos_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"

	"usertrail/internal/store/secure/kerberos"
)

// keytabOf writes a keytab with keys of users of REALM.TEST, and returns its name.
func keytabOf(t testing.TB, users ...string) string {
	t.Helper()
	k := keytab.New()
	for _, u := range users {
		if err := k.AddEntry(u, "REALM.TEST", "secret", time.Now(), 1, 18); err != nil {
			t.Fatal(err)
		}
	}
	return write(t, k)
}

func write(t testing.TB, k *keytab.Keytab) string {
	t.Helper()
	b, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "keytab", string(b))
}

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// krb5conf writes a configuration whose realm has the given lines.
func krb5conf(t testing.TB, realm string) string {
	t.Helper()
	return file(t, "krb5.conf", "[libdefaults]\n default_realm = REALM.TEST\n dns_lookup_kdc = no\n udp_preference_limit = 1\n[realms]\n REALM.TEST = {\n "+realm+"\n }\n")
}

func open(t testing.TB, conf string, cfg kerberos.Config) *kerberos.Login {
	t.Helper()
	cfg.Krb5Conf = conf
	l, err := kerberos.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAPrincipalOfAKeytabIsChosen(t *testing.T) {
	conf := krb5conf(t, "kdc = localhost")
	for _, c := range []struct {
		users     []string
		principal string
		want      string // the user, or a part of the error
	}{
		{[]string{"alice"}, "", "alice@REALM.TEST"},
		{[]string{"alice", "bob/host"}, "bob/host", "bob/host@REALM.TEST"},
		{[]string{"alice", "bob/host"}, "alice@REALM.TEST", "alice@REALM.TEST"},
		{[]string{"alice", "bob"}, "", "alice@REALM.TEST, bob@REALM.TEST: choose one with --principal"},
		{[]string{"alice"}, "carol", "has no key of carol@REALM.TEST, but of alice@REALM.TEST"},
		{[]string{"alice"}, "alice@OTHER.TEST", "has no key of alice@OTHER.TEST"},
	} {
		l, err := kerberos.Open(kerberos.Config{Krb5Conf: conf, Keytab: keytabOf(t, c.users...), Principal: c.principal})
		switch {
		case err != nil && (!errors.Is(err, kerberos.ErrCredentials) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v, %q: %v; want %s", c.users, c.principal, err, c.want)
		case err == nil && l.User().String() != c.want:
			t.Errorf("%v, %q: %s, want %s", c.users, c.principal, l.User(), c.want)
		}
	}
}

func TestCredentialsThatCannotBeUsedAreNamed(t *testing.T) {
	conf := krb5conf(t, "kdc = localhost")
	rc4 := keytab.New()
	if err := rc4.AddEntry("alice", "REALM.TEST", "secret", time.Now(), 1, 23); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  kerberos.Config
		is   error
		want string
	}{
		"no keytab":      {kerberos.Config{Keytab: "/none/keytab"}, kerberos.ErrCredentials, "/none/keytab"},
		"keytab of RC4":  {kerberos.Config{Keytab: write(t, rc4)}, kerberos.ErrCredentials, "no AES key of alice@REALM.TEST"},
		"no keytab file": {kerberos.Config{Keytab: file(t, "keytab", "\x05\x02\x00\x00\x00\x10abc")}, kerberos.ErrCredentials, "keytab"},
		"empty keytab":   {kerberos.Config{Keytab: file(t, "keytab", "")}, kerberos.ErrCredentials, "keytab"},
		"no cache":       {kerberos.Config{Cache: "FILE:/none/cache"}, kerberos.ErrNoTicket, "/none/cache: run kinit, or use --keytab"},
		"keyring":        {kerberos.Config{Cache: "KEYRING:persistent:1000"}, kerberos.ErrCredentials, "kind KEYRING are not supported"},
		"KCM":            {kerberos.Config{Cache: "KCM:"}, kerberos.ErrCredentials, "kind KCM are not supported"},
		"no cache file":  {kerberos.Config{Cache: file(t, "cache", "\x05\x04\x00")}, kerberos.ErrNoTicket, "it has no ticket of the user"},
		"an empty cache": {kerberos.Config{Cache: file(t, "cache", "")}, kerberos.ErrCredentials, "ticket cache"},
		"a wrong primary": {kerberos.Config{Cache: "DIR:" + filepath.Dir(file(t, "primary", "../tkt"))},
			kerberos.ErrCredentials, "names begin with tkt"},
		"no configuration": {kerberos.Config{Keytab: keytabOf(t, "alice"), Krb5Conf: "/none/krb5.conf"}, kerberos.ErrConf, "/none/krb5.conf"},
	} {
		if c.cfg.Krb5Conf == "" {
			c.cfg.Krb5Conf = conf
		}
		_, err := kerberos.Open(c.cfg)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %v and %q", name, err, c.is, c.want)
		}
	}
}

// TestTheConfigurationMayHaveManyFiles has what distributions write: includes, repeated sections,
// sections that are not needed, and the default cache.
func TestTheConfigurationMayHaveManyFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"krb5.conf": "includedir " + dir + "/krb5.conf.d/\ninclude " + dir + "/more\n\n[logging]\n default = FILE:/var/log/krb5libs.log\n" +
			"[libdefaults]\n    default_realm = FIRST.TEST\n    pkinit_anchors = FILE:/etc/ca.crt\n    default_ccache_name = FILE:" + dir + "/cache_%{uid}\n" +
			"[realms]\n FIRST.TEST = {\n  kdc = 127.0.0.1:1\n  admin_server = 127.0.0.1\n }\n",
		"krb5.conf.d/10-crypto": "[libdefaults]\npermitted_enctypes = aes256-cts-hmac-sha1-96\nudp_preference_limit = 1\n",
		"krb5.conf.d/kcm.conf":  "[domain_realm]\n .second.test = SECOND.TEST\n",
		"krb5.conf.d/ignored~":  "[realms]\n what = {\n",
		"krb5.conf.d/.hidden":   "[realms]\n what = {\n",
		"more":                  "[realms]\n SECOND.TEST = {\n  kdc = 127.0.0.1:2\n }\n[libdefaults]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, dir+"/krb5.conf", kerberos.Config{Keytab: keytabOf(t, "alice")})
	if l.Realm() != "FIRST.TEST" {
		t.Errorf("the default realm is %q", l.Realm())
	}
	t.Setenv("KRB5CCNAME", "")
	_, err := kerberos.Open(kerberos.Config{Krb5Conf: dir + "/krb5.conf"})
	if !errors.Is(err, kerberos.ErrNoTicket) || !strings.Contains(err.Error(), dir+"/cache_") {
		t.Errorf("%v does not name the default cache", err)
	}
	if err := os.WriteFile(dir+"/more", []byte("include "+dir+"/more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := kerberos.Open(kerberos.Config{Krb5Conf: dir + "/krb5.conf"}); !errors.Is(err, kerberos.ErrConf) || !strings.Contains(err.Error(), "include each other") {
		t.Errorf("a file that includes itself: %v", err)
	}
}
