package hdfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// ways are the protections of a secured HDFS, by the properties of a client.
var ways = map[string]map[string]string{
	"authentication":   {hadoopconf.RPCProtection: "authentication", hadoopconf.DataProtection: "authentication"},
	"integrity":        {hadoopconf.RPCProtection: "integrity", hadoopconf.DataProtection: "integrity"},
	"privacy":          {hadoopconf.RPCProtection: "privacy", hadoopconf.DataProtection: "privacy", "dfs.encrypt.data.transfer.cipher.suites": ""},
	"privacy with AES": {hadoopconf.RPCProtection: "privacy", hadoopconf.DataProtection: "privacy", "dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding"},
}

// TestSecuredConforms runs the suite with the ticket of a cache, in each protection.
func TestSecuredConforms(t *testing.T) {
	limits := dfstest.Limits{LockOutlives: leaseFalls, NoColon: true}
	if dfstest.Holder() {
		dfstest.RunWithin(t, limits, func(*testing.T) (dfs.FS, string) { return hdfs.New(hdfs.Config{}), "" })
		return
	}
	testkit.OnlyAll(t, "the suite without Kerberos, and where a secured cluster is up by TestFilesTravelInEachProtection")
	for name, properties := range ways {
		t.Run(name, func(t *testing.T) {
			c := clustertest.Secure(t)
			t.Setenv("KRB5_CONFIG", c.Krb5Conf())
			t.Setenv("KRB5CCNAME", "FILE:"+c.TicketCache(clustertest.Alice))
			t.Setenv("HADOOP_CONF_DIR", c.ClientConf(t, properties))
			dfstest.RunWithin(t, limits, func(t *testing.T) (dfs.FS, string) {
				return hdfs.New(hdfs.Config{}), c.HDFS(t)
			})
		})
	}
}

// user returns who logs in by a keytab.
func user(c *clustertest.Cluster, name string) *secure.Identity {
	return secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: c.Krb5Conf(), Keytab: c.Keytab(name)}})
}

// secured returns the file system of a user, whose client has some properties.
func secured(t *testing.T, c *clustertest.Cluster, id *secure.Identity, properties map[string]string) dfs.FS {
	t.Helper()
	dir := c.ClientConf(t, properties)
	return hdfs.New(hdfs.Config{
		Conf:    func() (*hadoopconf.Conf, error) { return hadoopconf.Load(dir) },
		Silence: 5 * time.Second, Identity: id,
	})
}

// TestFilesTravelInEachProtection writes and reads a file of many packets.
func TestFilesTravelInEachProtection(t *testing.T) {
	t.Parallel()
	c := clustertest.Secure(t)
	dir := c.HDFS(t)
	want := text(3 << 20)
	for name, properties := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := secured(t, c, user(c, clustertest.Alice), properties)
			file := dir + "/" + strings.ReplaceAll(name, " ", "-")
			write(t, fsys, file, want)
			expectFile(t, fsys, file, want)
		})
	}
}

func TestTokensOfHDFS(t *testing.T) {
	t.Parallel()
	c := clustertest.Secure(t)
	dir := c.HDFS(t)
	tok, ok, err := dfs.Delegate(t.Context(), secured(t, c, user(c, clustertest.Alice), nil), dir, "hbase")
	if err != nil || !ok {
		t.Fatalf("no token: %v", err)
	}
	if o, err := tok.Owner(); err != nil || o.User != clustertest.Alice+"@"+clustertest.Realm || time.Until(o.Expires) < 24*time.Hour || tok.Service != c.NameNode() {
		t.Errorf("token for %s of %+v, %v", tok.Service, o, err)
	}
	file := filepath.Join(t.TempDir(), "tokens")
	use := func(tok token.Token) *secure.Identity {
		if err := os.WriteFile(file, token.Append(nil, []token.Token{tok}), 0o600); err != nil {
			t.Fatal(err)
		}
		return secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: "/none"}, Tokens: file})
	}
	want := text(100_000)
	for name, properties := range ways {
		fsys := secured(t, c, use(tok), properties)
		write(t, fsys, dir+"/"+strings.ReplaceAll(name, " ", "-"), want)
		expectFile(t, fsys, dir+"/"+strings.ReplaceAll(name, " ", "-"), want)
		if again, ok, err := dfs.Delegate(t.Context(), fsys, dir, "hbase"); !ok || err != nil || string(again.Password) != string(tok.Password) {
			t.Errorf("%s: a token is not passed on: %v, %v", name, ok, err)
		}
	}
	tok.Password = []byte("wrong")
	_, err = secured(t, c, use(tok), nil).Stat(t.Context(), dir)
	if exit.Of(err) != exit.Usage || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong password: %v, want status 64", err)
	}
}

// TestAnotherUsersFilesAreNotRead has a user who has proved who she is, and has no right.
func TestAnotherUsersFilesAreNotRead(t *testing.T) {
	t.Parallel()
	c := clustertest.Secure(t)
	dir := c.HDFS(t)
	mine := secured(t, c, user(c, clustertest.Alice), nil)
	write(t, mine, dir+"/file", text(10))
	c.Admin(t, "chmod", strings.TrimPrefix(dir, "hdfs://"+c.NameNode()), "700")
	hers := secured(t, c, user(c, clustertest.Mallory), nil)
	_, err := dfs.ReadFile(t.Context(), hers, dir+"/file")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), clustertest.Mallory+"@"+clustertest.Realm) {
		t.Errorf("read: %v, want ErrPermission with the user", err)
	}
	if err := dfs.WriteFile(t.Context(), hers, dir+"/other", nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write: %v, want ErrPermission", err)
	}
}

// TestOthersEnterAndDoNotList opens a directory of Alice, whose files are for her alone otherwise.
func TestOthersEnterAndDoNotList(t *testing.T) {
	t.Parallel()
	c := clustertest.Secure(t)
	dir := c.HDFS(t)
	mine := secured(t, c, user(c, clustertest.Alice), map[string]string{"fs.permissions.umask-mask": "077"})
	write(t, mine, dir+"/a/b/c/file", text(10))
	modes := func() string {
		t.Helper()
		var out []string
		for path := strings.TrimPrefix(dir, "hdfs://"+c.NameNode()); len(out) < 4; {
			word := strings.Fields(c.Admin(t, "ls", path)[0])
			out = append(out, word[0]+" "+word[2])
			path += "/" + word[0]
		}
		return strings.Join(out, ", ")
	}
	for _, x := range []struct {
		user     string
		top, dir string
		want     string
	}{
		{clustertest.Mallory, "/a", "/a/b", "a 0700, b 0700, c 0700, file 0600"},
		{clustertest.Alice, "/other", "/a/b", "a 0700, b 0700, c 0700, file 0600"},
		{clustertest.Alice, "/a/b", "/a/b/c/none", "a 0700, b 0701, c 0701, file 0600"},
	} {
		fsys := secured(t, c, user(c, x.user), nil)
		if err := dfs.LetEnter(t.Context(), fsys, dir+x.top, dir+x.dir); err != nil {
			t.Errorf("%+v: %v", x, err)
		}
		if got := modes(); got != x.want {
			t.Errorf("%s from %s up to %s: %s, want %s", x.user, x.dir, x.top, got, x.want)
		}
	}
}

// TestSecuredMismatchesAreNamed has clients whose configuration does not fit to the cluster's.
func TestSecuredMismatchesAreNamed(t *testing.T) {
	t.Parallel()
	c := clustertest.Secure(t)
	host := strings.TrimSuffix(c.NameNode(), ":8020")
	for what, x := range map[string]struct {
		properties map[string]string
		identity   *secure.Identity
		says       string
	}{
		"no Kerberos":       {map[string]string{"hadoop.security.authentication": "simple"}, user(c, clustertest.Alice), "set hadoop.security.authentication to kerberos"},
		"another principal": {map[string]string{hadoopconf.NameNodePrincipal: "hdfs/_HOST"}, user(c, clustertest.Alice), "it says that it is nn/" + host},
		"no principal":      {map[string]string{hadoopconf.NameNodePrincipal: ""}, user(c, clustertest.Alice), hadoopconf.NameNodePrincipal + " is not set"},
		"another pattern":   {map[string]string{hadoopconf.NameNodePrincipal + ".pattern": "hdfs/*"}, user(c, clustertest.Alice), "pattern is hdfs/*"},
		"no credentials":    {nil, secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: c.Krb5Conf(), Cache: "FILE:/none"}}), "run kinit"},
		"no Kerberos, and protection is demanded": {map[string]string{"hadoop.security.authentication": "simple"}, secure.New(secure.Config{Least: sasl.Integrity}), "--protection integrity is demanded"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			_, err := secured(t, c, x.identity, x.properties).Stat(t.Context(), "hdfs://"+c.NameNode()+"/")
			if exit.Of(err) != exit.Usage || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v; want status 64 and %q", err, x.says)
			}
		})
	}
	fsys := secured(t, c, user(c, clustertest.Alice), map[string]string{hadoopconf.NameNodePrincipal + ".pattern": "nn/*@" + clustertest.Realm})
	if _, err := fsys.Stat(t.Context(), "hdfs://"+c.NameNode()+"/"); err != nil {
		t.Errorf("a pattern that fits: %v", err)
	}
}
