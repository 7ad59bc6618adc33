package dfs_test

import (
	"testing"

	"usertrail/internal/store/dfs"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ name, scheme, dir, base string }{
		{"a", "", ".", "a"},
		{"a/b", "", "a", "b"},
		{"./a/b", "", "./a", "b"},
		{"a/b/", "", "a", "b"},
		{"a//b", "", "a", "b"},
		{"/", "", "/", ""},
		{"/a", "", "/", "a"},
		{"/a/b", "", "/a", "b"},
		{"节目/播 放.csv", "", "节目", "播 放.csv"},
		{"hdfs://nn:8020/logs/a.csv", "hdfs", "hdfs://nn:8020/logs", "a.csv"},
		{"hdfs://nn:8020/a.csv", "hdfs", "hdfs://nn:8020/", "a.csv"},
		{"hdfs://nn:8020/", "hdfs", "hdfs://nn:8020/", ""},
		{"hdfs://nn:8020", "hdfs", "hdfs://nn:8020/", ""},
		{"hdfs:///logs/a", "hdfs", "hdfs:///logs", "a"},
		{"HBase://zk1,zk2:2181/ns:table", "hbase", "HBase://zk1,zk2:2181/", "ns:table"},
		{"s3a+x-1.0://b/c", "s3a+x-1.0", "s3a+x-1.0://b/", "c"},
		{"://x", "", ":", "x"},
		{"1a://x", "", "1a:", "x"},
		{"a b://x", "", "a b:", "x"},
		{"C:file", "", ".", "C:file"},
	} {
		if got := dfs.Scheme(c.name); got != c.scheme {
			t.Errorf("Scheme(%q) is %q, want %q", c.name, got, c.scheme)
		}
		if got := dfs.Dir(c.name); got != c.dir {
			t.Errorf("Dir(%q) is %q, want %q", c.name, got, c.dir)
		}
		if got := dfs.Base(c.name); got != c.base {
			t.Errorf("Base(%q) is %q, want %q", c.name, got, c.base)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		dir   string
		parts []string
		want  string
	}{
		{"a", []string{"b"}, "a/b"},
		{"a/", []string{"b", "c"}, "a/b/c"},
		{"./a", []string{"b/c/"}, "./a/b/c"},
		{"a", []string{"", "/b"}, "a/b"},
		{"a", nil, "a"},
		{"", []string{"a"}, "a"},
		{"/", []string{"a"}, "/a"},
		{"hdfs://nn:8020", []string{"a"}, "hdfs://nn:8020/a"},
		{"hdfs://nn:8020/", []string{"a", "b c"}, "hdfs://nn:8020/a/b c"},
	} {
		if got := dfs.Join(c.dir, c.parts...); got != c.want {
			t.Errorf("Join(%q, %q) is %q, want %q", c.dir, c.parts, got, c.want)
		}
	}
}
