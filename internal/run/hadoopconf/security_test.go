package hadoopconf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"usertrail/internal/run/hadoopconf"
)

func TestSecurityOfHBase(t *testing.T) {
	got, err := conf(t, nil).HBaseSecurity()
	if want := (hadoopconf.HBaseSecurity{}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("without a configuration: %+v, %v", got, err)
	}
	got, err = conf(t, map[string]string{
		"hbase.security.authentication": "Kerberos", "hbase.rpc.protection": "privacy, integrity",
		"hbase.regionserver.kerberos.principal": "hbase/_HOST@R", "hbase.client.netty.tls.enabled": "TRUE",
		"hbase.rpc.tls.enabledProtocols": "TLSv1.3,TLSv1.2", "hbase.client.netty.tls.verify.server.hostname": "false", "hbase.rpc.tls.ocsp": "true",
		"hbase.rpc.tls.keystore.location": "/k.p12", "hbase.rpc.tls.keystore.password": "hidden", "hbase.rpc.tls.truststore.location": "/t", "hbase.rpc.tls.truststore.type": "PEM",
	}).HBaseSecurity()
	want := hadoopconf.HBaseSecurity{
		Kerberos: true, Protections: []string{"privacy", "integrity"}, Master: "hbase/_HOST@R", RegionServer: "hbase/_HOST@R",
		TLS: true, Versions: []string{"TLSv1.3", "TLSv1.2"}, AnyName: true, Revocations: true,
		Key: hadoopconf.Store{Location: "/k.p12", Password: "hidden"}, Trust: hadoopconf.Store{Location: "/t", Type: "PEM"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if s := fmt.Sprintf(verb, got); strings.Contains(s, "hidden") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
	if _, err := conf(t, map[string]string{"hbase.rpc.protection": "${none}"}).HBaseSecurity(); !errors.Is(err, hadoopconf.ErrConf) {
		t.Errorf("a reference to nothing: %v", err)
	}
}

func TestSecurityOfHDFS(t *testing.T) {
	got, err := conf(t, map[string]string{
		"hadoop.security.authentication": "kerberos", "hadoop.rpc.protection": "integrity", "dfs.namenode.kerberos.principal": "nn/_HOST@R",
		"dfs.data.transfer.protection": "privacy", "dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding",
	}).HDFSSecurity()
	want := hadoopconf.HDFSSecurity{Kerberos: true, Protections: []string{"integrity"}, NameNode: "nn/_HOST@R", Data: []string{"privacy"}, Suites: []string{"AES/CTR/NoPadding"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// TestHBaseMayHaveADirectoryOfItsOwn checks that $HBASE_CONF_DIR names another hbase-site.xml.
func TestHBaseMayHaveADirectoryOfItsOwn(t *testing.T) {
	hadoop, hbase := t.TempDir(), t.TempDir()
	site(t, hadoop, "core-site.xml", map[string]string{"a": "core"})
	site(t, hadoop, "hbase-site.xml", map[string]string{"a": "old", "b": "old"})
	site(t, hbase, "hbase-site.xml", map[string]string{"b": "new"})
	site(t, hbase, "core-site.xml", map[string]string{"a": "not read"})
	t.Setenv("HADOOP_CONF_DIR", hadoop)
	t.Setenv("HBASE_CONF_DIR", hbase)
	c, err := hadoopconf.FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "old", "b": "new"} {
		if got, err := c.Get(name); got != want || err != nil {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", "")
	if c, err = hadoopconf.FromEnv(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get("b"); got != "new" || err != nil {
		t.Errorf("without Hadoop's, b is %q, %v", got, err)
	}
	if err := os.Remove(filepath.Join(hbase, "hbase-site.xml")); err != nil {
		t.Fatal(err)
	}
	if _, err := hadoopconf.FromEnv(); !errors.Is(err, hadoopconf.ErrConf) || !strings.Contains(err.Error(), hbase) {
		t.Errorf("a directory without hbase-site.xml: %v", err)
	}
}
