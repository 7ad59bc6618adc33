package live_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
)

// odd are split points that a shell may read wrongly: a quote of each kind, a
// backslash, Ruby's interpolation, and bytes that are no text.
var odd = split.Points{{0x00, 0x01}, []byte(`"#{x}`), []byte(`'it`), []byte(`1\x41`), []byte("ä"), {0xff, 0x80}}

func design(t *testing.T, address string, o live.Options, s live.Spec) *live.Design {
	t.Helper()
	d, err := live.NewDesign(address, o, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStatementsForTheShell(t *testing.T) {
	none := new(hadoopconf.Conf)
	for _, x := range []struct {
		address string
		options live.Options
		spec    live.Spec
		want    string
	}{
		{
			"hbase://zk1/trails", live.Options{Conf: none, Catalog: "hdfs://nn/it's"}, live.Spec{Compression: "snappy"},
			`create 'trails', {NAME => 'd', VERSIONS => 1, BLOOMFILTER => 'ROW', DATA_BLOCK_ENCODING => 'FAST_DIFF', COMPRESSION => 'SNAPPY', BLOCKSIZE => 16384}, ` +
				`{METADATA => {'usertrail.catalog' => 'hdfs://nn/it\'s'}}`,
		},
		{
			"hbase://zk1/stb:trails", live.Options{Conf: none, Catalog: "beside", Family: "e"},
			live.Spec{Compression: "none", KeyLen: 11, TTL: 400 * 24 * time.Hour, Splits: odd},
			`create 'stb:trails', {NAME => 'e', VERSIONS => 1, BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH', DATA_BLOCK_ENCODING => 'FAST_DIFF', COMPRESSION => 'NONE', BLOCKSIZE => 16384, TTL => 34560000, ` +
				`CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => '11'}}, ` +
				`{SPLITS => ['\x00\x01', '"#{x}', '\x27it', '1\x5Cx41', '\xC3\xA4', '\xFF\x80']}`,
		},
		{
			"hbase://zk1/trails", live.Options{Conf: none, Catalog: "beside"}, live.Spec{Compression: "gz"},
			`create 'trails', {NAME => 'd', VERSIONS => 1, BLOOMFILTER => 'ROW', DATA_BLOCK_ENCODING => 'FAST_DIFF', COMPRESSION => 'GZ', BLOCKSIZE => 16384}`,
		},
		{
			"hbase://zk1/trails", live.Options{Conf: none, Catalog: "beside"}, live.Spec{Compression: "gz", Versions: 400, TTL: 365 * 24 * time.Hour},
			`create 'trails', {NAME => 'd', VERSIONS => 400, BLOOMFILTER => 'ROW', DATA_BLOCK_ENCODING => 'FAST_DIFF', COMPRESSION => 'GZ', BLOCKSIZE => 16384, TTL => 31536000}`,
		},
	} {
		if got := design(t, x.address, x.options, x.spec).Statement(); got != x.want {
			t.Errorf("the statement is\n%s\nwant\n%s", got, x.want)
		}
	}
}

func TestADesignKnowsItsPlace(t *testing.T) {
	none := new(hadoopconf.Conf)
	for what, x := range map[string]struct {
		address string
		options live.Options
		spec    live.Spec
		want    error
	}{
		"no address":          {"trails", live.Options{Conf: none, Catalog: "/c"}, live.Spec{}, live.ErrAddress},
		"no catalog":          {"hbase://zk1/t", live.Options{Conf: none}, live.Spec{}, table.ErrUnfit},
		"splits in no order":  {"hbase://zk1/t", live.Options{Conf: none, Catalog: "/c"}, live.Spec{Splits: split.Points{[]byte("b"), []byte("a")}}, nil},
		"no server to ask":    {"hbase://127.0.0.1:1/t", live.Options{Conf: none, Catalog: "/c"}, live.Spec{}, table.ErrUnreachable},
		"servers of no known": {"hbase://no-such-host.invalid/t", live.Options{Conf: none, Catalog: "/c"}, live.Spec{}, table.ErrUnfit},
	} {
		if x.want == table.ErrUnreachable { // otherwise the resolver returns at once
			x.options.Client.CallTimeout, x.options.Client.OpTimeout = time.Second, time.Second
		}
		d, err := live.NewDesign(x.address, x.options, x.spec)
		if err == nil {
			_, _, err = d.Make(t.Context())
		}
		if err == nil || x.want != nil && !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", what, err, x.want)
		}
	}
}

// made is a design for a new table with an odd shape, and the table's name.
func made(t *testing.T, c *clustertest.Cluster, o live.Options) (*live.Design, string) {
	t.Helper()
	name := c.Table(t)
	d := design(t, at(c, name), o, live.Spec{Splits: odd, Compression: "gz", KeyLen: 9, TTL: 36 * time.Hour})
	there, differs, err := d.Make(t.Context())
	if err != nil || there || differs != nil {
		t.Fatalf("made: there already %t, differs %q, %v", there, differs, err)
	}
	return d, name
}

func at(c *clustertest.Cluster, name string) string {
	return fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), name)
}

// TestATableIsMade makes a table, looks at it in all ways, and loads it.
func TestATableIsMade(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: dfs.Join(c.HDFS(t), "catalog")}
	d, name := made(t, c, o)
	t.Run("HBase's client sees what was asked for", func(t *testing.T) { testDescribed(t, c, o, d, name) })
	t.Run("it passes all checks", func(t *testing.T) { testFit(t, c, o.Catalog, name) })
	t.Run("it is made again", func(t *testing.T) { testMadeAgain(t, c, o, d, name) })
	t.Run("it takes a load", func(t *testing.T) {
		tabletest.Load(t, tabletest.Puts, connect(t, c, name, live.Options{Conf: o.Conf}))
	})
}

// testDescribed has HBase's own client look at the table, and at one that is made of the
// statement for the shell.
func testDescribed(t *testing.T, c *clustertest.Cluster, o live.Options, d *live.Design, name string) {
	var starts []string
	for _, r := range c.Regions(t, name) {
		if r.Server == "" {
			t.Errorf("region %q is on no server", r.Start)
		}
		starts = append(starts, r.Start)
	}
	want := []string{""}
	for _, p := range odd {
		want = append(want, string(p))
	}
	if !slices.Equal(starts, want) || d.Regions() != len(want) {
		t.Errorf("its %d regions begin at %q, want %q", d.Regions(), starts, want)
	}

	said := describe(t, c, name)
	if twin := describe(t, c, c.Create(t, "d", parseStatement(t, d.Statement(), name)...)); !slices.Equal(said, twin) {
		t.Fatalf("the table is\n%s\nand the table of the statement is\n%s", strings.Join(said, "\n"), strings.Join(twin, "\n"))
	}
	for _, line := range []string{
		"family d VERSIONS = 1", "family d BLOOMFILTER = ROWPREFIX_FIXED_LENGTH", "family d configuration RowPrefixBloomFilter.prefix_length = 9",
		"family d DATA_BLOCK_ENCODING = FAST_DIFF", "family d COMPRESSION = GZ", "family d BLOCKSIZE = 16384", "family d TTL = 129600",
		"table usertrail.catalog = " + o.Catalog,
	} {
		if !slices.Contains(said, line) {
			t.Errorf("HBase does not say %q, but\n%s", line, strings.Join(said, "\n"))
		}
	}
}

var (
	quotedText = `'((?:[^'\\]|\\.)*)'`
	setting    = regexp.MustCompile(`([A-Z_]+) => (?:` + quotedText + `|([0-9]+))`)
	pair       = regexp.MustCompile(quotedText + ` => ` + quotedText)
	array      = regexp.MustCompile(`SPLITS => \[(.*?)\]`)
	one        = regexp.MustCompile(quotedText)
)

// describe returns the settings and regions of a table, as HBase's own client reports them.
func describe(t *testing.T, c *clustertest.Cluster, name string) (out []string) {
	t.Helper()
	for _, word := range c.Admin(t, "describe", name) {
		out = append(out, clustertest.Unescape(word))
	}
	return out
}

// parseStatement reads a statement as Ruby does, into options of Admin's create.
func parseStatement(t *testing.T, text, name string) (options []string) {
	t.Helper()
	rest, ok := strings.CutPrefix(text, "create '"+name+"', {NAME => 'd', ")
	if !ok {
		t.Fatalf("not a statement that makes %s: %s", name, text)
	}
	if m := array.FindStringSubmatch(rest); m != nil {
		for _, key := range one.FindAllStringSubmatch(m[1], -1) {
			options = append(options, "split="+clustertest.Unescape(key[1]))
		}
		rest = strings.Replace(rest, m[0], "", 1)
	}
	for _, m := range pair.FindAllStringSubmatch(rest, -1) {
		where := "config."
		if m[1] == live.CatalogAttribute {
			where = "table."
		}
		options = append(options, where+m[1]+"="+m[2])
	}
	for _, m := range setting.FindAllStringSubmatch(rest, -1) {
		options = append(options, m[1]+"="+m[2]+m[3])
	}
	return options
}

// java is a program of testdata where scripts/cluster finds it.
func java(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// testMadeAgain makes a table that exists: unchanged, altered, and made by another program.
func testMadeAgain(t *testing.T, c *clustertest.Cluster, o live.Options, d *live.Design, name string) {
	if there, differs, err := d.Make(t.Context()); err != nil || !there || differs != nil {
		t.Errorf("made again: there %t, differs %q, %v; want there, and no difference", there, differs, err)
	}
	other := design(t, at(c, name), live.Options{Conf: o.Conf, Catalog: "/elsewhere"}, live.Spec{Compression: "snappy"})
	there, differs, err := other.Make(t.Context())
	want := []string{
		"BLOOMFILTER is ROWPREFIX_FIXED_LENGTH, not ROW", "COMPRESSION is GZ, not SNAPPY", "TTL is 129600, not 2147483647",
		"usertrail.catalog is " + o.Catalog + ", not /elsewhere",
	}
	if err != nil || !there || !slices.Equal(differs, want) {
		t.Errorf("another: there %t, differs %q, %v; want %q", there, differs, err, want)
	}
	foreign := design(t, at(c, c.Shared(t, "x")), o, live.Spec{Compression: "snappy"})
	if there, differs, err := foreign.Make(t.Context()); err != nil || !there || !slices.Equal(differs, []string{"it has no family d, but x"}) {
		t.Errorf("of another family: there %t, differs %q, %v", there, differs, err)
	}
}

func TestATableThatCannotBeMade(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: "/c"}
	_, _, err := design(t, at(c, "nowhere:trails"), o, live.Spec{Compression: "gz"}).Make(t.Context())
	if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "create_namespace 'nowhere'") {
		t.Errorf("without its namespace: %v, want ErrUnfit that says how to make it", err)
	}
	o.Client.User = "bob"
	_, _, err = design(t, at(c, c.Table(t)), o, live.Spec{Compression: "gz"}).Make(t.Context())
	if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "grant 'bob', 'C', '@default'") {
		t.Errorf("without the right: %v, want ErrUnfit that says which", err)
	}
	o.Client.User = ""
	_, _, err = design(t, at(c, c.Table(t)), o, live.Spec{Compression: "lzo"}).Make(t.Context())
	if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "compression") {
		t.Errorf("with a codec that the servers lack: %v, want ErrUnfit", err)
	}
}
