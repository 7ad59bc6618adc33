package hadoopconf_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/run/hadoopconf"
)

// conf writes properties of core-site.xml and loads them.
func conf(t *testing.T, properties map[string]string) *hadoopconf.Conf {
	t.Helper()
	dir := t.TempDir()
	site(t, dir, "core-site.xml", properties)
	c, err := hadoopconf.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func site(t *testing.T, dir, name string, properties map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		fmt.Fprintf(&b, "  <property><name> %s </name><value>%s\n</value><final>true</final></property>\n", k, properties[k])
	}
	b.WriteString("</configuration>\n")
	raw(t, dir, name, b.String())
}

func raw(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var pair = map[string]string{
	"fs.defaultFS":                          "hdfs://cluster",
	"dfs.nameservices":                      "cluster, far",
	"dfs.ha.namenodes.cluster":              "nn1,nn2",
	"dfs.namenode.rpc-address.cluster.nn1":  "a.example:8020",
	"dfs.namenode.rpc-address.cluster.nn2":  "b.example:9000",
	"dfs.namenode.rpc-address.far":          "far.example:8020",
	"dfs.client.failover.proxy.provider.ns": "ignored",
}

func TestNameNodes(t *testing.T) {
	for _, c := range []struct {
		authority  string
		properties map[string]string
		want       []string
	}{
		{"nn:8020", nil, []string{"nn:8020"}},
		{"nn", nil, []string{"nn:8020"}},
		{"[::1]", nil, []string{"[::1]:8020"}},
		{"[::1]:9000", nil, []string{"[::1]:9000"}},
		{"", map[string]string{"fs.defaultFS": "hdfs://nn:9000/"}, []string{"nn:9000"}},
		{"", pair, []string{"a.example:8020", "b.example:9000"}},
		{"cluster", pair, []string{"a.example:8020", "b.example:9000"}},
		{"far", pair, []string{"far.example:8020"}},
		{"other:1", pair, []string{"other:1"}},
		{"", map[string]string{"dfs.nameservices": "far", "dfs.namenode.rpc-address.far": "far.example:8020"}, []string{"far.example:8020"}},
	} {
		got, err := conf(t, c.properties).NameNodes(c.authority)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q of %v: %v, %v; want %v", c.authority, c.properties, got, err, c.want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	with := func(key, value string) map[string]string {
		m := maps.Clone(pair)
		m[key] = value
		return m
	}
	for _, c := range []struct {
		authority  string
		properties map[string]string
		want       []string // parts of the error
	}{
		{"", nil, []string{"fs.defaultFS", "HADOOP_CONF_DIR"}},
		{"", with("fs.defaultFS", ""), []string{"core-site.xml", "dfs.nameservices", "cluster, far"}},
		{"", with("fs.defaultFS", "viewfs://all/"), []string{"core-site.xml", "fs.defaultFS", "viewfs"}},
		{"", with("fs.defaultFS", "file:///"), []string{"core-site.xml", "fs.defaultFS", "file:///"}},
		{"", with("fs.defaultFS", "hdfs://${nobody}"), []string{"core-site.xml", "fs.defaultFS", "${nobody}"}},
		{"", with("fs.defaultFS", "hdfs://${nobody"), []string{"core-site.xml", "fs.defaultFS", "without its }"}},
		{"", with("fs.defaultFS", "${fs.defaultFS}"), []string{"core-site.xml", "fs.defaultFS", "deep"}},
		{"cluster", with("dfs.namenode.rpc-address.cluster.nn2", ""), []string{"dfs.namenode.rpc-address.cluster.nn2", "not set"}},
		{"cluster", with("dfs.namenode.rpc-address.cluster.nn2", "host"), []string{"dfs.namenode.rpc-address.cluster.nn2", "host:port"}},
		{"cluster", with("dfs.ha.namenodes.cluster", "nn1,nn3"), []string{"dfs.namenode.rpc-address.cluster.nn3", "not set"}},
	} {
		got, err := conf(t, c.properties).NameNodes(c.authority)
		if !errors.Is(err, hadoopconf.ErrConf) {
			t.Errorf("%q: %v, %v; want ErrConf", c.authority, got, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
}

func TestFilesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"<configuration>": "core-site.xml",
		"<properties/>":   "core-site.xml",
		"<configuration><property><value>1</value></property></configuration>":                                     "property 1 has no name",
		`<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="other.xml"/></configuration>`: "xi:include",
	} {
		dir := t.TempDir()
		raw(t, dir, "core-site.xml", text)
		if _, err := hadoopconf.Load(dir); !errors.Is(err, hadoopconf.ErrConf) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ErrConf that says %q", text, err, want)
		}
	}
	if _, err := hadoopconf.Load(t.TempDir()); !errors.Is(err, hadoopconf.ErrConf) {
		t.Errorf("an empty directory: %v, want ErrConf", err)
	}
}

func TestValuesReferToOthers(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SET", "s")
	t.Setenv("EMPTY", "")
	for value, want := range map[string]string{
		"plain":                "plain",
		"${a}/${a}":            "1/1",
		"x${b}y":               "x-1-y",
		"${user.name}":         u.Username,
		"${env.SET}":           "s",
		"${env.EMPTY}":         "",
		"${env.NONE-d}":        "d",
		"${env.EMPTY-d}":       "",
		"${env.EMPTY:-d}":      "d",
		"${env.NONE:-a-b}":     "a-b",
		"$HOME is no property": "$HOME is no property",
	} {
		got, err := conf(t, map[string]string{"a": "1", "b": "-${a}-", "v": value}).Get("v")
		if err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", value, got, err, want)
		}
	}
}

func TestLaterFilesOverride(t *testing.T) {
	dir := t.TempDir()
	site(t, dir, "core-site.xml", map[string]string{"a": "core", "b": "core"})
	site(t, dir, "hdfs-site.xml", map[string]string{"b": "hdfs"})
	t.Setenv("HADOOP_CONF_DIR", dir)
	c, err := hadoopconf.FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "core", "b": "hdfs", "c": ""} {
		if got, err := c.Get(name); got != want || err != nil {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestTheEnvironmentNamesTheDirectory(t *testing.T) {
	home := t.TempDir()
	etc := filepath.Join(home, "etc", "hadoop")
	if err := os.MkdirAll(etc, 0o700); err != nil {
		t.Fatal(err)
	}
	site(t, etc, "core-site.xml", map[string]string{"fs.defaultFS": "hdfs://home"})
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", home)
	c, err := hadoopconf.FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.NameNodes(""); err != nil || !slices.Equal(got, []string{"home:8020"}) {
		t.Errorf("%v, %v", got, err)
	}
	t.Setenv("HADOOP_HOME", "")
	if c, err = hadoopconf.FromEnv(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.NameNodes("nn:1"); err != nil || !slices.Equal(got, []string{"nn:1"}) {
		t.Errorf("without a configuration: %v, %v", got, err)
	}
}

func TestZooKeeper(t *testing.T) {
	zk, err := conf(t, map[string]string{"hbase.zookeeper.quorum": "a, b:2182", "hbase.zookeeper.property.clientPort": "2183", "zookeeper.znode.parent": "/hbase-unsecure"}).ZooKeeper()
	if err != nil || !slices.Equal(zk.Quorum, []string{"a:2183", "b:2182"}) || zk.Parent != "/hbase-unsecure" {
		t.Errorf("%+v, %v", zk, err)
	}
	zk, err = conf(t, map[string]string{"hbase.zookeeper.quorum": "a"}).ZooKeeper()
	if err != nil || !slices.Equal(zk.Quorum, []string{"a:2181"}) || zk.Parent != "/hbase" {
		t.Errorf("the defaults are %+v, %v", zk, err)
	}
	_, err = conf(t, map[string]string{"hbase.zookeeper.property.clientPort": "many"}).ZooKeeper()
	if !errors.Is(err, hadoopconf.ErrConf) || !strings.Contains(err.Error(), "clientPort") {
		t.Errorf("a port that is none: %v", err)
	}
}

func TestClientSettings(t *testing.T) {
	none := conf(t, nil)
	if mask, err := none.Umask(); mask != 0o027 || err != nil {
		t.Errorf("umask %o, %v; want 27", mask, err)
	}
	c := conf(t, map[string]string{"fs.permissions.umask-mask": "077", "dfs.client.use.datanode.hostname": "true"})
	if mask, err := c.Umask(); mask != 0o077 || err != nil {
		t.Errorf("umask %o, %v; want 77", mask, err)
	}
	if h, err := c.DatanodeHostnames(); !h || err != nil {
		t.Errorf("hostnames %v, %v", h, err)
	}
	if _, err := conf(t, map[string]string{"fs.permissions.umask-mask": "u=rwx"}).Umask(); !errors.Is(err, hadoopconf.ErrConf) {
		t.Errorf("a umask that is none: %v", err)
	}
}
