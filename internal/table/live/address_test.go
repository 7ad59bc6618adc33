package live_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/table/live"
	"usertrail/internal/test/testkit"
)

// site is the configuration of a cluster.
func site(t *testing.T) *hadoopconf.Conf {
	t.Helper()
	dir := t.TempDir()
	text := `<configuration>
<property><name>hbase.zookeeper.quorum</name><value>z1,z2</value></property>
<property><name>hbase.zookeeper.property.clientPort</name><value>2222</value></property>
<property><name>zookeeper.znode.parent</name><value>/hbase-secure</value></property>
</configuration>`
	testkit.WriteFile(t, filepath.Join(dir, "hbase-site.xml"), text)
	c, err := hadoopconf.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAddresses(t *testing.T) {
	none, some := new(hadoopconf.Conf), site(t)
	for _, x := range []struct {
		text   string
		conf   *hadoopconf.Conf
		quorum []string
		parent string
		table  string
		shown  string
	}{
		{"hbase://zk1/trails", none, []string{"zk1:2181"}, "/hbase", "trails", "hbase://zk1:2181/trails"},
		{"hbase://zk1,zk2:2182/ns:trails", none, []string{"zk1:2182", "zk2:2182"}, "/hbase", "ns:trails", "hbase://zk1:2182,zk2:2182/ns:trails"},
		{"hbase://zk1:1,zk2:2/default:trails", none, []string{"zk1:1", "zk2:2"}, "/hbase", "trails", "hbase://zk1:1,zk2:2/trails"},
		{"HBASE://zk1/t?parent=/hb", none, []string{"zk1:2181"}, "/hb", "t", "hbase://zk1:2181/t?parent=/hb"},
		{"hbase:///t", some, []string{"z1:2222", "z2:2222"}, "/hbase-secure", "t", "hbase://z1:2222,z2:2222/t?parent=/hbase-secure"},
		{"hbase://zk1/t", some, []string{"zk1:2181"}, "/hbase-secure", "t", "hbase://zk1:2181/t?parent=/hbase-secure"},
		{"hbase://zk1/größe:行为_٣.-", none, []string{"zk1:2181"}, "/hbase", "größe:行为_٣.-", "hbase://zk1:2181/größe:行为_٣.-"},
		{"hbase://[::1]:2181/t", none, []string{"[::1]:2181"}, "/hbase", "t", "hbase://[::1]:2181/t"},
	} {
		a, err := live.ParseAddress(x.text, x.conf)
		if err != nil {
			t.Errorf("%s: %v", x.text, err)
			continue
		}
		if !slices.Equal(a.Quorum, x.quorum) || a.Parent != x.parent || a.Table != x.table || a.String() != x.shown {
			t.Errorf("%s is %+v, written %s", x.text, a, a)
		}
		if again, err := live.ParseAddress(a.String(), none); err != nil || again.String() != a.String() {
			t.Errorf("%s, read again, is %s, %v", a, again, err)
		}
	}
	for _, text := range []string{
		"", "trails", "hdfs://nn/trails", "hbase://", "hbase://zk1", "hbase://zk1/", "hbase:///t", "hbase://zk1,,zk2/t",
		"hbase://zk1/a:b:c", "hbase://zk1/:t", "hbase://zk1/ns:", "hbase://zk1/a b", "hbase://zk1/.t", "hbase://zk1/-t", "hbase://zk1/n-s:t", "hbase://zk1/zookeeper", "hbase://zk1/t\xff", "hbase://zk1/t😀", "hbase://zk1/t?parent=hbase", "hbase://zk1/t?znode=/hbase",
	} {
		if a, err := live.ParseAddress(text, none); !errors.Is(err, live.ErrAddress) {
			t.Errorf("%q is taken for %s, %v", text, a, err)
		}
	}
}
