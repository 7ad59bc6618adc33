package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// identity returns a user of the secured cluster, who logs in by a keytab.
func identity(k *clustertest.Cluster, user string, least sasl.Protection) *secure.Identity {
	return secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: k.Krb5Conf(), Keytab: k.Keytab(user)}, Tokens: "", Least: least})
}

// security returns the security of a client whose configuration has some properties.
func security(t *testing.T, k *clustertest.Cluster, id *secure.Identity, properties map[string]string) *Security {
	t.Helper()
	conf, err := hadoopconf.Load(k.ClientConf(t, properties))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSecurity(conf, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// with returns a change of a Config.
func with(s *Security) func(*Config) { return func(cfg *Config) { cfg.Security = s } }

// dialSecure returns a client of a user.
func dialSecure(t *testing.T, k *clustertest.Cluster, user string, properties map[string]string) *Client {
	t.Helper()
	return dialReal(t, k, with(security(t, k, identity(k, user, 0), properties)))
}

// protected are the properties of a client that accepts one protection.
func protected(p sasl.Protection) map[string]string {
	return map[string]string{hadoopconf.HBaseProtection: p.String()}
}

// seen returns the protection of the connection to the server of hbase:meta.
func seen(t *testing.T, c *Client) string {
	t.Helper()
	s, err := c.metaServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn.Protection()
}

// TestSecuredClients puts, gets and scans in each protection, with TLS and without.
func TestSecuredClients(t *testing.T) {
	t.Parallel()
	k := clustertest.Secure(t)
	name := k.Create(t, "f", "split="+rowName(100))
	k.Admin(t, "grant", clustertest.Alice, "RW", name)
	withCertificate := k.WithTLS()
	maps.Copy(withCertificate, map[string]string{"hbase.rpc.tls.keystore.location": k.TLS("client.pkcs12"), "hbase.rpc.tls.keystore.password": clustertest.StorePassword, "hbase.rpc.tls.keystore.type": "PKCS12"})
	pem := k.WithTLS()
	maps.Copy(pem, map[string]string{"hbase.rpc.tls.keystore.location": k.TLS("client.pem"), "hbase.rpc.tls.keystore.type": "", "hbase.rpc.tls.truststore.location": k.TLS("trust.pem"), "hbase.rpc.tls.truststore.type": ""})
	const certified = "TLS 1.3, a client certificate, "
	n := testkit.Pick(200, 1000)
	for layers, properties := range map[string]map[string]string{"": {"hbase.client.netty.tls.enabled": "false"}, "TLS 1.3, ": k.WithTLS(), certified: withCertificate, "TLS 1.3, PEM, ": pem} {
		for p := sasl.Authentication; p <= sasl.Privacy; p++ {
			all := maps.Clone(properties)
			maps.Copy(all, protected(p))
			t.Run(layers+p.String(), func(t *testing.T) {
				if layers != "" && (layers != certified || p != sasl.Authentication) {
					testkit.OnlyAll(t, "the other protections, and TLS with a client certificate")
				}
				t.Parallel()
				c := dialSecure(t, k, clustertest.Alice, all)
				putReal(t, c, name, 0, n, nil)
				scanReal(t, c, name, n, Scan{}, nil)
				getReal(t, c, name, n, nil)
				want := p.String()
				if layers != "" {
					want = "TLS 1.3, " + want
				}
				if got := seen(t, c); got != want {
					t.Errorf("the connection has %s, want %s", got, want)
				}
				if got, want := c.User(), clustertest.Alice+"@"+clustertest.Realm; got != want {
					t.Errorf("the user is %s, want %s", got, want)
				}
			})
		}
	}
}

// TestTokensOfHBase gets a token by Kerberos, and then works with the token alone.
func TestTokensOfHBase(t *testing.T) {
	t.Parallel()
	k := clustertest.Secure(t)
	name := k.Create(t, "f")
	k.Admin(t, "grant", clustertest.Alice, "RW", name)
	tok, ok, err := dialSecure(t, k, clustertest.Alice, nil).Token(t.Context())
	if err != nil || !ok {
		t.Fatalf("no token: %v", err)
	}
	if o, err := tok.Owner(); err != nil || o.User != clustertest.Alice+"@"+clustertest.Realm {
		t.Errorf("the owner is %+v, %v", o, err)
	}
	file := filepath.Join(t.TempDir(), "tokens")
	use := func(t *testing.T, tok token.Token, p sasl.Protection) *Client {
		t.Helper()
		if err := os.WriteFile(file, token.Append(nil, []token.Token{tok}), 0o600); err != nil {
			t.Fatal(err)
		}
		id := secure.New(secure.Config{Kerberos: kerberos.Config{Krb5Conf: "/none"}, Tokens: file})
		return dialReal(t, k, with(security(t, k, id, protected(p))), func(cfg *Config) { cfg.OpTimeout = 0 })
	}
	for p := testkit.Pick(sasl.Privacy, sasl.Authentication); p <= sasl.Privacy; p++ {
		c := use(t, tok, p)
		putReal(t, c, name, 0, 50, nil)
		scanReal(t, c, name, 50, Scan{}, nil)
		if got := seen(t, c); got != p.String() {
			t.Errorf("the connection has %s, want %s", got, p)
		}
		if again, ok, err := c.Token(t.Context()); !ok || err != nil || !bytes.Equal(again.Password, tok.Password) {
			t.Errorf("%s: a token is not passed on: %v, %v", p, ok, err)
		}
	}
	unknown, wrong := tok, tok
	unknown.Identifier = ofKey(tok.Identifier, 1<<20)
	wrong.Password = []byte("wrong")
	for what, tok := range map[string]token.Token{"a key that the server does not have any more": unknown, "a wrong password": wrong} {
		_, err = use(t, tok, sasl.Authentication).Get(t.Context(), name, []byte("x"), wire.Get{})
		if !errors.Is(err, ErrInsecure) || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), token.Advice) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: %v, want ErrInsecure and %q", what, err, token.Advice)
		}
	}
}

// ofKey returns an identifier of a token of HBase with the number of another key of the server
// (AuthenticationTokenIdentifier: int32 length | 3 key_id).
func ofKey(identifier []byte, key uint64) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(bytes.Clone(identifier), 3, protowire.VarintType), key)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// TestMismatchesAreNamed has clients whose configuration does not fit to the cluster's.
func TestMismatchesAreNamed(t *testing.T) {
	t.Parallel()
	k := clustertest.Secure(t)
	name := k.Shared(t, "f")
	otherCA := k.WithTLS()
	otherCA["hbase.rpc.tls.truststore.location"], otherCA["hbase.rpc.tls.truststore.type"] = k.TLS("client.crt"), "pem"
	for what, c := range map[string]struct {
		properties map[string]string
		says       []string
	}{
		"no Kerberos":       {map[string]string{"hbase.security.authentication": "simple"}, []string{"Authentication is required", "set hbase.security.authentication to kerberos"}},
		"a wrong principal": {map[string]string{hadoopconf.RegionPrincipal: "nn/" + strings.TrimSuffix(k.NameNode(), ":8020")}, []string{"GSS initiate failed", "compare the principal in hbase-site.xml"}},
		"an unknown one":    {map[string]string{hadoopconf.RegionPrincipal: "hbase/nowhere"}, []string{"hbase/nowhere@" + clustertest.Realm, "does not know the service"}},
		"no principal":      {map[string]string{hadoopconf.RegionPrincipal: "", hadoopconf.MasterPrincipal: ""}, []string{hadoopconf.RegionPrincipal + " is not set"}},
		"an unknown CA":     {otherCA, []string{"certificate signed by unknown authority", "hbase.rpc.tls.truststore.location"}},
	} {
		t.Run(what, func(t *testing.T) {
			if what != "a wrong principal" && what != "no principal" {
				testkit.OnlyAll(t, "TestWhatIsWrongOnASecuredClusterIsSaid of internal/test/faults")
			}
			t.Parallel()
			client := dialSecure(t, k, clustertest.Alice, c.properties)
			_, err := client.Get(t.Context(), name, []byte("x"), wire.Get{})
			if !errors.Is(err, ErrInsecure) && exit.Of(err) != exit.Usage || errors.Is(err, ErrUnavailable) {
				t.Errorf("%v: want an error that no retry solves", err)
			}
			for _, part := range c.says {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
}

// A meddler changes the bytes of the server after the first left bytes.
type meddler struct {
	net.Conn
	left   int
	change func(b []byte)
}

func (m *meddler) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	if m.left -= n; m.left < 0 && n > 0 && m.change != nil {
		m.change(b[:n])
		m.change = nil
	}
	return n, err
}

// TestAManInTheMiddleIsNoticed has an attacker who changes the responses of servers, or
// responds in their place.
func TestAManInTheMiddleIsNoticed(t *testing.T) {
	t.Parallel()
	k := clustertest.Secure(t)
	name := k.Shared(t, "f")
	const forged = "sealed responses are changed"
	flip := func(b []byte) { b[len(b)-1] ^= 1 }
	toSimple := func(b []byte) { copy(b, "\xff\xff\xff\xa8") }
	for what, c := range map[string]struct {
		after      int
		change     func([]byte)
		properties map[string]string
		want       error
	}{
		"the server's proof is changed": {8, flip, protected(sasl.Privacy), gss.ErrServer},
		"asks for no Kerberos":          {4, toSimple, protected(sasl.Privacy), rpc.ErrSimple},
		"signed responses are changed":  {200, flip, protected(sasl.Integrity), etype.ErrForged},
		forged:                          {200, flip, protected(sasl.Privacy), etype.ErrForged},
		"TLS is stripped":               {0, func(b []byte) { copy(b, "HBas!") }, k.WithTLS(), rpc.ErrNoTLS},
	} {
		t.Run(what, func(t *testing.T) {
			if errors.Is(c.want, etype.ErrForged) && what != forged {
				testkit.OnlyAll(t, forged)
			}
			t.Parallel()
			client := dialReal(t, k, with(security(t, k, identity(k, clustertest.Alice, 0), c.properties)), func(cfg *Config) {
				cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					nc, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
					if err != nil {
						return nil, err
					}
					return &meddler{Conn: nc, left: c.after, change: c.change}, nil
				}
			})
			cells, err := client.Get(t.Context(), name, []byte("x"), wire.Get{})
			if !errors.Is(err, c.want) || len(cells) > 0 {
				t.Errorf("%d cells, %v; want %v", len(cells), err, c.want)
			}
		})
	}
}

// TestAUserWithoutRightsIsNamed has a user who has proved who she is, and has no right.
func TestAUserWithoutRightsIsNamed(t *testing.T) {
	t.Parallel()
	k := clustertest.Secure(t)
	name := k.Create(t, "f")
	k.Admin(t, "put", name, "row", "f", "q", "secret")
	c := dialSecure(t, k, clustertest.Mallory, nil)
	cells, err := c.Get(t.Context(), name, []byte("row"), wire.Get{})
	if !errors.Is(err, ErrPermission) || len(cells) > 0 || !strings.Contains(err.Error(), clustertest.Mallory+"@"+clustertest.Realm) {
		t.Errorf("%d cells, %v; want ErrPermission with the user", len(cells), err)
	}
	p, err := c.NewPutter(name, PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := errors.Join(p.Put(t.Context(), realCell(1, 1)), p.Flush(t.Context())); !errors.Is(err, ErrPermission) {
		t.Errorf("a put: %v, want ErrPermission", err)
	}
	if got := k.Digest(t, name).Cells; got != 1 {
		t.Errorf("the table has %d cells, want 1", got)
	}
}

// TestWhatIsDemandedIsKept has clients who demand more protection than the configuration.
func TestWhatIsDemandedIsKept(t *testing.T) {
	t.Parallel()
	k := clustertest.Secure(t)
	id := identity(k, clustertest.Alice, sasl.Privacy)
	c := dialReal(t, k, with(security(t, k, id, protected(sasl.Authentication))))
	if got, want := seen(t, c), "privacy"; got != want {
		t.Errorf("the connection has %s, want %s", got, want)
	}
	all := k.WithTLS()
	maps.Copy(all, protected(sasl.Authentication))
	c = dialReal(t, k, with(security(t, k, id, all)))
	if got, want := seen(t, c), "TLS 1.3, authentication"; got != want {
		t.Errorf("with TLS the connection has %s, want %s", got, want)
	}
	conf, err := hadoopconf.Load(k.ClientConf(t, map[string]string{"hbase.security.authentication": "simple"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSecurity(conf, id); !errors.Is(err, secure.ErrPolicy) {
		t.Errorf("without Kerberos and TLS: %v, want ErrPolicy", err)
	}
}

// staged returns a staging directory of HBase for a table.
func staged(t *testing.T, c *Client, table string) string {
	t.Helper()
	dir, err := c.PrepareBulkLoad(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func regions(t *testing.T, c *Client, table string) []Region {
	t.Helper()
	all, err := c.Regions(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readers are the users who may read the file of a load.
type readers struct {
	umask, mode string // of the folder
	token       bool
	moved       bool // the file is in the staging directory after a refusal
}

// TestSecuredBulkLoads loads a file as HBase's user may not read it. Without a token for HDFS a
// region refuses it, and may leave it in HBase's staging directory, from where it comes back.
func TestSecuredBulkLoads(t *testing.T) {
	t.Parallel()
	k := clustertest.Secure(t)
	for name, x := range map[string]readers{
		"only Alice may read, with a token":    {"066", "711", true, false},
		"only Alice may read, without a token": {"066", "711", false, false},
		"everybody may, without a token":       {"000", "777", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if x.token {
				testkit.OnlyAll(t, "the other two, which load with a token in the end")
			}
			t.Parallel()
			x.load(t, k)
		})
	}
}

// load loads a file without a token, if x has none, and then with a token.
func (x *readers) load(t *testing.T, k *clustertest.Cluster) {
	c := dialSecure(t, k, clustertest.Alice, protected(sasl.Privacy))
	id := identity(k, clustertest.Alice, 0)
	conf := k.ClientConf(t, map[string]string{"fs.permissions.umask-mask": x.umask})
	fs := hdfs.New(hdfs.Config{Identity: id, Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(conf) }})
	table, dir := k.Create(t, "f"), k.HDFS(t)
	k.Admin(t, "grant", clustertest.Alice, "RC", table)
	k.Admin(t, "chmod", strings.TrimPrefix(dir, "hdfs://"+k.NameNode()), x.mode)
	path := uploadReal(t, fs, dir+"/f/file", 0, 10)
	load := func(token *token.Token) bool {
		staging := staged(t, c, table)
		loaded, err := dialSecure(t, k, clustertest.Alice, nil).BulkLoad(t.Context(), table, regions(t, c, table)[0], []wire.FamilyPath{path}, staging, token)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Stat(t.Context(), staging+"/f/file"); (err == nil) != (!loaded && x.moved) {
			t.Errorf("loaded %v, and the file in the staging directory: %v", loaded, err)
		} else if err == nil {
			if err := fs.Publish(t.Context(), staging+"/f/file", path.Path); err != nil {
				t.Fatal(err)
			}
		}
		return loaded
	}
	if !x.token {
		if load(nil) {
			t.Error("a region takes a file without a token")
		}
		scanReal(t, c, table, 0, Scan{}, nil)
	}
	tok, ok, err := dfs.Delegate(t.Context(), fs, dir, "hbase")
	if !ok || err != nil {
		t.Fatalf("no token: %v", err)
	}
	// With quotas, the server looks at the file as HBase's user.
	k.Admin(t, "chmod", strings.TrimPrefix(dir, "hdfs://"+k.NameNode()), "700")
	if loaded, err := c.BulkLoad(t.Context(), table, regions(t, c, table)[0], []wire.FamilyPath{path}, staged(t, c, table), &tok); loaded || !errors.Is(err, ErrHidden) {
		t.Errorf("a folder that HBase's user may not enter: loaded %v, %v; want ErrHidden", loaded, err)
	}
	k.Admin(t, "chmod", strings.TrimPrefix(dir, "hdfs://"+k.NameNode()), x.mode)
	if !load(&tok) {
		t.Error("a region refuses a file with a token")
	}
	scanReal(t, c, table, 10, Scan{}, nil)
}
