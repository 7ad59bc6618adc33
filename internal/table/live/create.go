package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/dfs"
	"usertrail/internal/hbase"
	"usertrail/internal/hbase/wire"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

const (
	// defaultFamily is short: HBase keeps it in every cell.
	defaultFamily = "d"

	// blockSize is what one read of a user brings in from the disk, and decompresses.
	// The rows of a user's month are a few KiB, so of HBase's 64 KiB most would be
	// other users'; below 16 KiB the index, which is kept in memory, grows and the
	// compression suffers. Tables of files have the same (docs/table.md).
	blockSize = 16 << 10
)

// What HBase calls the settings of a family that matter here, and what they are
// where a table does not say.
const (
	versionsKey    = "VERSIONS"
	bloomKey       = "BLOOMFILTER"
	prefixKey      = "RowPrefixBloomFilter.prefix_length" // in the family's configuration
	encodingKey    = "DATA_BLOCK_ENCODING"
	compressionKey = "COMPRESSION"
	blockSizeKey   = "BLOCKSIZE"
	ttlKey         = "TTL"
	keepDeletedKey = "KEEP_DELETED_CELLS"

	readOnlyKey = "READONLY" // of the table
)

var familyDefaults = map[string]string{
	versionsKey: "1", bloomKey: "ROW", encodingKey: "NONE", compressionKey: "NONE", blockSizeKey: "65536", ttlKey: strconv.Itoa(forever),
}

// A Spec is what a table is to be made with.
type Spec struct {
	Splits      split.Points
	Compression string        // none, snappy, gz, zstd or lz4
	KeyLen      int           // bytes of every user's key, 0 where they differ or rows do not begin with them
	Versions    int           // of a column, that the layout needs; 0 is one
	TTL         time.Duration // from a behaviour's time on; 0 is for ever
}

// A Design is a table as it is to be made.
type Design struct {
	address Address
	client  hbase.Config
	catalog string
	schema  *wire.TableSchema
	splits  split.Points
}

// NewDesign settles what address, o and spec leave open. It asks no server.
//
// The table names its catalog in its attribute, unless that is a local folder by a
// relative path, which would be another for everybody.
func NewDesign(address string, o Options, spec Spec) (*Design, error) {
	a, err := ParseAddress(address, o.Conf)
	if err != nil {
		return nil, err
	}
	if err := spec.Splits.Validate(); err != nil {
		return nil, fmt.Errorf("table %s: %w", a, err)
	}
	place := &Store{address: a}
	if err := place.find("", o); err != nil {
		return nil, err
	}
	o.Client.ZooKeeper, o.Client.Znode = a.Quorum, a.Parent
	d := &Design{address: a, client: o.Client, catalog: place.dir, splits: spec.Splits}
	d.schema = &wire.TableSchema{
		Name:     wire.ParseTableName(a.Table),
		Families: []wire.FamilySchema{spec.family(cmp.Or(o.Family, defaultFamily))},
	}
	if dfs.Scheme(place.dir) != "" || strings.HasPrefix(place.dir, "/") {
		d.schema.Attributes = map[string]string{CatalogAttribute: place.dir}
	}
	return d, nil
}

// family is the family that usertrail wants: no more versions than the layout needs,
// since loading twice puts the same cells again; a Bloom filter of users where all keys
// have one length, so that a scan of a user's rows uses it too, and else of rows.
func (s Spec) family(name string) wire.FamilySchema {
	f := wire.FamilySchema{Name: name, Attributes: map[string]string{
		versionsKey:    strconv.Itoa(max(s.Versions, 1)),
		bloomKey:       "ROW",
		encodingKey:    "FAST_DIFF",
		compressionKey: strings.ToUpper(s.Compression),
		blockSizeKey:   strconv.Itoa(blockSize),
		ttlKey:         strconv.Itoa(forever),
	}}
	if s.KeyLen > 0 {
		f.Attributes[bloomKey] = "ROWPREFIX_FIXED_LENGTH"
		f.Configuration = map[string]string{prefixKey: strconv.Itoa(s.KeyLen)}
	}
	if s.TTL > 0 {
		f.Attributes[ttlKey] = strconv.FormatInt(int64(s.TTL/time.Second), 10)
	}
	return f
}

// Address is the table's, in full.
func (d *Design) Address() string { return d.address.String() }

// Catalog is the directory of the table's catalog.
func (d *Design) Catalog() string { return d.catalog }

// Family describes the family: its name, and its settings as HBase writes them.
func (d *Design) Family() (name string, settings map[string]string) {
	f := &d.schema.Families[0]
	return f.Name, settingsOf(f)
}

// Regions is how many regions the table begins with.
func (d *Design) Regions() int { return len(d.splits) + 1 }

// Make makes the table, and returns when all of its regions are online. Where the
// table is there already it changes nothing and says so; differs lists what of it is
// not as designed. The regions are not compared: they change as a table grows.
func (d *Design) Make(ctx context.Context) (there bool, differs []string, err error) {
	client, err := hbase.Dial(ctx, d.client)
	if err != nil {
		return false, nil, d.address.explain(err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	have, err := client.Describe(ctx, d.address.Table)
	if errors.Is(err, hbase.ErrNoTable) {
		err = client.Create(ctx, d.schema, d.splits)
		if !errors.Is(err, hbase.ErrTableExists) {
			return false, nil, d.explain(err)
		}
		have, err = client.Describe(ctx, d.address.Table) // somebody was quicker
	}
	if err != nil {
		return false, nil, d.address.explain(err)
	}
	return true, d.differs(have), nil
}

// explain says what keeps HBase from making the table.
func (d *Design) explain(err error) error {
	space, _, ok := strings.Cut(d.address.Table, ":")
	if !ok {
		space = "default"
	}
	unfit := func(advice string) error {
		return fmt.Errorf("table %s: %w: %w; %s", d.address, table.ErrUnfit, err, advice)
	}
	var server *wire.ServerError
	switch {
	case errors.Is(err, hbase.ErrPermission):
		return unfit(fmt.Sprintf("grant the right to make tables, in HBase's shell: grant 'USER', 'C', '@%s'; or give the statement of --print to who has it", space))
	case errors.As(err, &server) && server.Name() == "NamespaceNotFoundException":
		return unfit(fmt.Sprintf("make its namespace first, in HBase's shell: create_namespace '%s'", space))
	case errors.As(err, &server) && server.Name() == "DoNotRetryIOException":
		return unfit("can its servers do what is asked for? table: {compression: …} of the job says how blocks are compressed")
	}
	return d.address.explain(err)
}

// differs says what of a table is not as designed.
func (d *Design) differs(have *wire.TableSchema) []string {
	name, want := d.Family()
	family := familyOf(have.Families, name)
	if family == nil {
		var names []string
		for _, f := range have.Families {
			names = append(names, f.Name)
		}
		return []string{fmt.Sprintf("it has no family %s, but %s", name, strings.Join(names, ", "))}
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if is := setting(family, key); is != want[key] {
			out = append(out, fmt.Sprintf("%s is %s, not %s", key, cmp.Or(is, "not set"), want[key]))
		}
	}
	if is, want := have.Attributes[CatalogAttribute], d.schema.Attributes[CatalogAttribute]; is != want {
		out = append(out, fmt.Sprintf("%s is %s, not %s", CatalogAttribute, cmp.Or(is, "not set"), cmp.Or(want, "not set")))
	}
	return out
}

// setting is what a family says, as HBase would write it, or what holds where it
// says nothing.
func setting(f *wire.FamilySchema, key string) string {
	text := strings.ToUpper(cmp.Or(f.Configuration[key], f.Attributes[key], familyDefaults[key]))
	if key == ttlKey && text == "FOREVER" {
		return familyDefaults[ttlKey]
	}
	return text
}

// Statement is the same as Make for who types it into HBase's shell.
func (d *Design) Statement() string {
	f := d.schema.Families[0]
	var b strings.Builder
	fmt.Fprintf(&b, "create %s, {NAME => %s", quoted(d.address.Table), quoted(f.Name))
	for _, key := range []string{versionsKey, bloomKey, encodingKey, compressionKey, blockSizeKey, ttlKey} {
		value := f.Attributes[key]
		if _, err := strconv.Atoi(value); err != nil {
			value = quoted(value)
		}
		if key == ttlKey && value == familyDefaults[ttlKey] {
			continue
		}
		fmt.Fprintf(&b, ", %s => %s", key, value)
	}
	if n, ok := f.Configuration[prefixKey]; ok {
		fmt.Fprintf(&b, ", CONFIGURATION => {%s => %s}", quoted(prefixKey), quoted(n))
	}
	b.WriteString("}")
	var rest []string
	if len(d.splits) > 0 {
		keys := make([]string, len(d.splits))
		for i, p := range d.splits {
			keys[i] = "'" + binary(p) + "'"
		}
		rest = append(rest, "SPLITS => ["+strings.Join(keys, ", ")+"]")
	}
	if dir, ok := d.schema.Attributes[CatalogAttribute]; ok {
		rest = append(rest, fmt.Sprintf("METADATA => {%s => %s}", quoted(CatalogAttribute), quoted(dir)))
	}
	if len(rest) > 0 {
		b.WriteString(", {" + strings.Join(rest, ", ") + "}")
	}
	return b.String()
}

// quoted is a text in Ruby's single quotes, in which only these two are special.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// binary is a key as the shell reads one (Bytes.toBytesBinary): \xNN stands for a
// byte. It stands in single quotes, because in double ones Ruby would read \xNN
// itself, and make of a byte above 7F no character that Java knows.
func binary(key []byte) string {
	var b strings.Builder
	for _, c := range key {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' {
			fmt.Fprintf(&b, `\x%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
