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

	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
)

const (
	// defaultFamily is short, because HBase stores it in every cell.
	defaultFamily = "d"

	// blockSize is the number of bytes that one read of a user decompresses. The rows of a
	// user's month have a few KiB, so most of HBase's default block of 64 KiB would be other
	// users. Below 16 KiB the index, which is in memory, grows, and compression gets worse.
	// Tables of files use the same size (docs/reference/table.md).
	blockSize = 16 << 10
)

// These are HBase's names of settings of a family, and their default values.
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

// A Spec has the properties of a new table.
type Spec struct {
	Splits      split.Points
	Compression string        // none, snappy, gz, zstd or lz4
	KeyLen      int           // length of every user's key in bytes; 0 if lengths differ or rows do not begin with the key
	Versions    int           // versions of a column that the layout needs; 0 means one
	TTL         time.Duration // counted from an event's time; 0 means no limit
}

// A Design is the description of a new table.
type Design struct {
	address Address
	options Options
	catalog string
	schema  *wire.TableSchema
	splits  split.Points
}

// NewDesign completes address, o and spec with defaults. It contacts no server.
//
// The table's attribute names its catalog, unless the catalog is a local folder with a relative
// path: such a path means another folder for each user.
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
	d := &Design{address: a, options: o, catalog: place.dir, splits: spec.Splits}
	d.schema = &wire.TableSchema{
		Name:     wire.ParseTableName(a.Table),
		Families: []wire.FamilySchema{spec.family(cmp.Or(o.Family, defaultFamily))},
	}
	if dfs.Scheme(place.dir) != "" || strings.HasPrefix(place.dir, "/") {
		d.schema.Attributes = map[string]string{CatalogAttribute: place.dir}
	}
	return d, nil
}

// family returns the settings of the family. It has only the versions that the layout needs,
// because a second load puts the same cells. If all user keys have one length, its Bloom filter
// is of users, so that scans use it, too. Otherwise the filter is of rows.
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

// Address returns the full address of the table.
func (d *Design) Address() string { return d.address.String() }

// Catalog returns the directory of the table's catalog.
func (d *Design) Catalog() string { return d.catalog }

// Family returns the name of the family, and its settings as HBase writes them.
func (d *Design) Family() (name string, settings map[string]string) {
	f := &d.schema.Families[0]
	return f.Name, settingsOf(f)
}

// Regions returns the number of regions of the new table.
func (d *Design) Regions() int { return len(d.splits) + 1 }

// Make creates the table, and returns when all its regions are online. If the table exists, Make
// changes nothing and returns there as true. differs then lists the settings that differ. Make does
// not compare regions, because they change as a table grows.
func (d *Design) Make(ctx context.Context) (there bool, differs []string, err error) {
	client, err := d.options.dial(ctx, d.address)
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
		have, err = client.Describe(ctx, d.address.Table) // another client has made it
	}
	if err != nil {
		return false, nil, d.address.explain(err)
	}
	return true, d.differs(have), nil
}

// explain returns the error for a table that HBase did not make, with the reason and the next
// step.
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
		return unfit(granting(err, "C", "'@"+space+"'") + "; or give the statement of --print to who has the right to make tables")
	case errors.As(err, &server) && server.Name() == "NamespaceNotFoundException":
		return unfit(fmt.Sprintf("make its namespace first, in HBase's shell: create_namespace '%s'", space))
	case errors.As(err, &server) && server.Name() == "DoNotRetryIOException":
		return unfit("can its servers do what is asked for? table: {compression: …} of the job says how blocks are compressed")
	}
	return d.address.explain(err)
}

// differs lists the settings of a table that differ from the design.
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

// setting returns a setting of a family as HBase writes it, or the default if the family has none.
func setting(f *wire.FamilySchema, key string) string {
	text := strings.ToUpper(cmp.Or(f.Configuration[key], f.Attributes[key], familyDefaults[key]))
	if key == ttlKey && text == "FOREVER" {
		return familyDefaults[ttlKey]
	}
	return text
}

// Statement returns a statement for HBase's shell that makes the table.
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

// quoted returns a text in Ruby's single quotes. Only the quote and the backslash are special there.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// binary returns a key as the shell reads it (Bytes.toBytesBinary): \xNN means a byte. It uses
// single quotes. In double quotes Ruby itself would read \xNN, and would turn a byte above 7F into
// a character that Java does not know.
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
