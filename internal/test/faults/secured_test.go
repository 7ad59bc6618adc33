package faults_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/secure/kerberos/kerberostest"
	"usertrail/internal/store/secure/token"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// client returns the environment of a user who has no ticket.
func client(c *clustertest.Cluster, conf string) []string {
	return []string{"HADOOP_CONF_DIR=" + conf, "KRB5_CONFIG=" + c.Krb5Conf(), "KRB5CCNAME=" + filepath.Join(testkit.Home(), "none")}
}

// private demands privacy of every connection.
const private = "USERTRAIL_PROTECTION=privacy"

// login returns the environment of a user who has a keytab.
func login(c *clustertest.Cluster, conf, user string) []string {
	return append(client(c, conf), "USERTRAIL_KEYTAB="+c.Keytab(user))
}

// secured writes a job for users who may not read the table's description in HBase, and returns
// the arguments of a load or an extract of the sample's first day.
func (h *fixture) secured(t *testing.T, catalog string) []string {
	t.Helper()
	h.jobs(t, map[string]string{"least.yaml": fmt.Sprintf("path: %q, catalog: %q, family: d", h.address(), catalog)})
	return []string{"--job", "least.yaml", "--from", span.From.String(), "--to", testkit.Pick(span.From, span.To).String()}
}

// tokens has the program write delegation tokens, and returns their file and the environment of a user
// who has them alone.
func (h *fixture) tokens(t *testing.T, env []string, conf, job string) (with []string, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tokens")
	start(t, h.dir, env, "bulkload", "token", "--job", job, "--out", file).done(t)
	return []string{"HADOOP_CONF_DIR=" + conf, "KRB5_CONFIG=/none", token.Variable + "=" + file}, file
}

// TestSecuredCluster loads and extracts as users with the least rights, through TLS. HFiles are
// loaded by a process that has no more than delegation tokens.
func TestSecuredCluster(t *testing.T) {
	t.Parallel()
	c := clustertest.Secure(t)
	conf := c.ClientConf(t, c.WithTLS())
	alice, bob := login(c, conf, clustertest.Alice), login(c, conf, clustertest.Bob)
	files := c.HDFS(t)
	path := strings.TrimPrefix(files, "hdfs://"+c.NameNode())
	c.Admin(t, "acl", path, "user:bob:r-x,default:user:bob:r-x")
	var reference map[string]string
	for _, x := range []struct {
		mode, rights, catalog string
		plans                 []string
	}{
		{"put", "RW", "catalog", testkit.Pick([]string{"get"}, []string{"get", "scan"})},
		{"hfile", "RC", files + "/catalog", testkit.Pick([]string{"scan"}, []string{"get", "scan"})},
	} {
		h := newFixture(t, c, "files")
		args := h.secured(t, x.catalog)
		c.Admin(t, "grant", clustertest.Alice, x.rights, h.table)
		c.Admin(t, "grant", clustertest.Bob, "R", h.table)
		loader := alice
		if x.mode == "hfile" {
			loader, _ = h.tokens(t, alice, conf, "least.yaml")
		}
		began := time.Now()
		said := h.granted(t, loader, "bulkload", append(args, "--mode", x.mode)...)
		t.Logf("%s: the load took %s", x.mode, time.Since(began).Round(time.Millisecond))
		if d := c.Digest(t, h.table); d.Cells != said.Cells || said.Cells == 0 {
			t.Errorf("%s: HBase's scan finds %d cells, the load says %d", x.mode, d.Cells, said.Cells)
		}
		for _, plan := range x.plans {
			out := filepath.Join(h.dir, plan)
			h.granted(t, bob, "extract", append(args, "--plan", plan, "--users", filepath.Join(testkit.Home(), "users"), "--active", "any", "--types", "play,order,visit,login", "--out", out)...)
			got := h.parts(t, out)
			if reference == nil {
				reference = got
			}
			if len(got) == 0 || !maps.Equal(got, reference) {
				t.Errorf("%s: %s wrote %v, others wrote %v", x.mode, plan, got, reference)
			}
		}
		c.HasNoSecret(t, h.dir)
		h.isNotForEverybody(t, filepath.Join(h.dir, x.plans[0]))
	}
	// HBase has quotas, and so HBase's user has to enter the directories.
	modes := c.Admin(t, "ls", path+"/catalog")
	for _, want := range []string{"manifest.json alice 0640", "staging alice 0751", "quarantine alice 0750"} {
		if !slices.ContainsFunc(modes, func(got string) bool { return strings.HasPrefix(got, want+" ") }) {
			t.Errorf("the catalog has %q, want %q", modes, want)
		}
	}
}

// isNotForEverybody checks the modes of a directory on this machine.
func (h *fixture) isNotForEverybody(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode()&0o027 != 0 {
			t.Errorf("%s is %v, want no right of others", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// granted runs a program until the RegionServers, which ZooKeeper informs of rights with some
// delay, let the user in.
func (h *fixture) granted(t *testing.T, env []string, program string, args ...string) result {
	t.Helper()
	p := start(t, h.dir, env, program, args...)
	for end := time.Now().Add(deadline); strings.Contains(p.wait(t).Error, "permission denied") && time.Now().Before(end); {
		p = start(t, h.dir, env, program, args...)
	}
	return p.done(t)
}

// TestWhatIsWrongOnASecuredClusterIsSaid runs commands that cannot succeed.
func TestWhatIsWrongOnASecuredClusterIsSaid(t *testing.T) {
	t.Parallel()
	c := clustertest.Secure(t)
	h := newFixture(t, c, "files")
	h.secured(t, "c")
	all := complaints(t, c, h)
	trying := map[int]*process{}
	for i, x := range all {
		if x.status == exitNotNow {
			trying[i] = x.start(t, h)
		}
	}
	secrets := append(c.Secrets(t), []byte("changeIT"))
	for i, x := range all {
		t.Run(x.name, func(t *testing.T) {
			p := trying[i]
			if p == nil {
				p = x.start(t, h)
			}
			x.check(t, p)
			for _, secret := range secrets {
				if bytes.Contains(append(p.stdout.Bytes(), p.stderr.Bytes()...), secret) {
					t.Errorf("%s prints a secret", x.program)
				}
			}
		})
	}
	c.HasNoSecret(t, h.dir)
}

// complaints returns the commands, for the table of h.
func complaints(t *testing.T, c *clustertest.Cluster, h *fixture) []complaint {
	job := []string{"--job", "least.yaml"}
	with := func(properties map[string]string) string { return c.ClientConf(t, properties) }
	tls := func(key, value string) string {
		p := c.WithTLS()
		p[key] = value
		return with(p)
	}
	plain := c.ConfDir()
	alice := func(conf string, more ...string) []string { return append(login(c, conf, clustertest.Alice), more...) }
	ended := filepath.Join(h.dir, "ended")
	kerberostest.Kinit{Krb5Conf: c.Krb5Conf(), Keytab: c.Keytab(clustertest.Alice), User: clustertest.Alice, Realm: clustertest.Realm, Life: time.Hour, Early: 2 * time.Hour}.Run(t, ended)
	silent := silentKDC(t, c)

	var all []complaint
	add := func(name string, env []string, status int, says ...string) {
		for _, x := range both(name, job, status, says...) {
			x.env = env
			all = append(all, x)
		}
	}
	add("the ticket has ended", append(client(c, plain), "KRB5CCNAME="+ended), exitUsage, "ended", "kinit")
	add("no ticket", client(c, plain), exitUsage, "run kinit", "--keytab")
	add("no such keytab", append(client(c, plain), "USERTRAIL_KEYTAB="+filepath.Join(testkit.Home(), "none")), exitUsage, filepath.Join(testkit.Home(), "none"))
	add("another principal", alice(plain, "USERTRAIL_PRINCIPAL=carol"), exitUsage, "carol@"+clustertest.Realm, c.Keytab(clustertest.Alice))
	add("a client without Kerberos", alice(with(map[string]string{"hbase.security.authentication": "simple"})), exitUsage, "hbase.security.authentication")
	add("servers have another principal", alice(with(map[string]string{"hbase.regionserver.kerberos.principal": "other/_HOST@" + clustertest.Realm, "hbase.master.kerberos.principal": "other/_HOST@" + clustertest.Realm})), exitUsage, "other/", "principal in hbase-site.xml")
	add("no such tokens", append(client(c, plain), token.Variable+"="+filepath.Join(testkit.Home(), "none")), exitUsage, "file of tokens", filepath.Join(testkit.Home(), "none"))
	add("no such protection", alice(plain, "USERTRAIL_PROTECTION=much"), exitUsage, "USERTRAIL_PROTECTION", "much", "privacy")
	add("another password of the store", alice(tls("hbase.rpc.tls.truststore.password", "changeIT")), exitUsage, "trust store", "the store has another password")
	add("other authorities", alice(tls("hbase.rpc.tls.truststore.location", "")), exitUsage, "hbase.rpc.tls.truststore")
	add("the KDC is silent", append(alice(plain), "KRB5_CONFIG="+silent), exitNotNow, "KDC")
	denied := func(program, right string) complaint {
		return complaint{"no right, " + program, program, login(c, plain, clustertest.Mallory), job, exitUsage,
			[]string{"permission denied", "as user mallory", "grant 'mallory', '" + right + "', '" + h.table + "'"}}
	}
	return append(all, denied("bulkload", "RW"), denied("extract", "R"))
}

// silentKDC returns a configuration of Kerberos whose KDC accepts connections and never responds.
func silentKDC(t *testing.T, c *clustertest.Cluster) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	conf, err := os.ReadFile(c.Krb5Conf())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(name, bytes.ReplaceAll(conf, []byte(c.KDC()), []byte(l.Addr().String())), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
