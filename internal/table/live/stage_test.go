package live_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"usertrail/internal/format/hfile"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
)

// inHBase are the files that HBase has of a table, opened.
func inHBase(t *testing.T, c *clustertest.Cluster, name string) []*hfile.Reader {
	t.Helper()
	fs := hdfs.New(hdfs.Config{})
	all, err := dfs.Glob(t.Context(), fs, "hdfs://"+c.NameNode()+"/hbase/data/default/"+name+"/*/d/*")
	if err != nil {
		t.Fatal(err)
	}
	var out []*hfile.Reader
	for _, info := range all {
		f, err := fs.Open(t.Context(), info.Name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		r, err := hfile.Open(f, f.Size())
		if err != nil {
			t.Fatal(path.Base(info.Name), err)
		}
		out = append(out, r)
	}
	return out
}

// TestFilesAreAsTheFamilySays loads into families with other settings, and looks at
// what HBase has then.
func TestFilesAreAsTheFamilySays(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	conf := confOf(t, c)
	for _, x := range []struct {
		settings []string
		want     hfile.Options
	}{
		{nil, hfile.Options{Codec: hfile.Plain, Encoding: hfile.NoEncoding, Bloom: hfile.RowBloom}},
		{
			[]string{"COMPRESSION=SNAPPY", "DATA_BLOCK_ENCODING=FAST_DIFF", "BLOOMFILTER=ROW"},
			hfile.Options{Codec: hfile.Snappy, Encoding: hfile.FastDiff, Bloom: hfile.RowBloom},
		},
		{
			[]string{"COMPRESSION=LZ4", "DATA_BLOCK_ENCODING=DIFF", "BLOOMFILTER=ROWCOL"},
			hfile.Options{Codec: hfile.LZ4, Encoding: hfile.Diff, Bloom: hfile.RowColBloom},
		},
		{
			[]string{"COMPRESSION=GZ", "DATA_BLOCK_ENCODING=ROW_INDEX_V1", "BLOOMFILTER=NONE"},
			hfile.Options{Codec: hfile.GZ, Encoding: hfile.RowIndex, Bloom: hfile.NoBloom},
		},
	} {
		name := c.Create(t, "d", x.settings...)
		tabletest.Load(t, tabletest.Files, connect(t, c, name, live.Options{Conf: conf, Catalog: t.TempDir()}))
		files := inHBase(t, c, name)
		if len(files) == 0 {
			t.Errorf("%q: HBase has no file", x.settings)
		}
		for _, f := range files {
			if f.Codec() != x.want.Codec || f.Encoding() != x.want.Encoding || f.Bloom() != x.want.Bloom {
				t.Errorf("%q: the file has %s, %s, %s; want %s, %s, %s", x.settings, f.Codec(), f.Encoding(), f.Bloom(), x.want.Codec, x.want.Encoding, x.want.Bloom)
			}
		}
	}
}

// TestZSTDWantsAProof checks and loads a table of ZSTD. usertrail writes no ZSTD before a file of
// HBase shows in which layout.
func TestZSTDWantsAProof(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name := c.Create(t, "d", "COMPRESSION=ZSTD")
	o := live.Options{Conf: confOf(t, c), Catalog: t.TempDir()}
	load := tonight
	for _, x := range []struct {
		puts bool
		want precheck.State
	}{{false, precheck.Fail}, {true, precheck.Warn}} {
		load.HFiles, load.Puts = true, x.puts
		if got := look(t, c, name, o, load)[precheck.FamilyFit]; got.State != x.want || !strings.Contains(got.Detail, "two formats") {
			t.Errorf("puts %t: %+v, want %v that names the layouts", x.puts, got, x.want)
		}
	}
	options := func() (hfile.Options, error) {
		return begin(t, connect(t, c, name, o)).(table.Stager).FileOptions(t.Context())
	}
	if _, err := options(); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "--mode put") {
		t.Errorf("without a file: %v, want ErrUnfit and what to do", err)
	}
	c.Admin(t, "put", name, "row", "d", "q", "value", "1")
	c.Admin(t, "flush", name)
	if got, err := options(); err != nil || got.Codec != hfile.ZSTD {
		t.Errorf("with a file: codec %q, %v; want the framed one, as this cluster is set up", got.Codec, err)
	}
	tabletest.Load(t, tabletest.Files, connect(t, c, name, o))
}
