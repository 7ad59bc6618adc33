package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"usertrail/internal/catalog"
	"usertrail/internal/dfs"
	"usertrail/internal/hadoopconf"
	"usertrail/internal/hbase"
	"usertrail/internal/hbase/wire"
	"usertrail/internal/manifest"
	"usertrail/internal/table"
)

// CatalogAttribute is the attribute of an HBase table that names its catalog.
const CatalogAttribute = "usertrail.catalog"

// Options say what the address of a table does not.
type Options struct {
	Catalog string // the catalog's directory; the table's attribute, or the default
	Family  string // the column family; the table's only one
	Root    string // where HBase's files lie; hbase.rootdir of Conf
	Others  bool   // others write rows into the table, too
	Conf    *hadoopconf.Conf
	Client  hbase.Config // but for the quorum and the znode
}

// A Store is a table in HBase, whether or not anything was loaded into it.
type Store struct {
	fs      dfs.FS
	address Address
	client  *hbase.Client
	dir     string // of the catalog
	family  string
	others  bool
	schema  *wire.FamilySchema     // nil where HBase does not tell
	home    func() (string, error) // where HBase's files lie
	// patience is how long a file may be on its way into a region without a call
	// that is known to run.
	patience time.Duration

	readOnly bool // HBase takes no puts for the table

	unproved bool // Open does not ask for rows

	untold error // why HBase does not describe the table; nil where it does
	unsaid bool  // neither does the job
}

// Connect finds the table called address, its family and its catalog.
func Connect(ctx context.Context, fs dfs.FS, address string, o Options) (*Store, error) {
	a, err := ParseAddress(address, o.Conf)
	if err != nil {
		return nil, err
	}
	o.Client.ZooKeeper, o.Client.Znode = a.Quorum, a.Parent
	client, err := hbase.Dial(ctx, o.Client)
	if err != nil {
		return nil, a.explain(err)
	}
	s := &Store{fs: fs, address: a, client: client, others: o.Others, home: func() (string, error) { return a.home(o) }, patience: cmp.Or(o.Client.CallTimeout, time.Minute)}
	if err := s.describe(ctx, o); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return s, nil
}

// describe takes the family and the catalog from what HBase says of the table. It
// says so only to those who may alter the table; for others the job tells.
func (s *Store) describe(ctx context.Context, o Options) error {
	if err := s.client.CheckEnabled(ctx, s.address.Table); err != nil {
		return s.address.explain(err)
	}
	d, err := s.client.Describe(ctx, s.address.Table)
	switch {
	case errors.Is(err, hbase.ErrPermission):
		s.family, s.untold = o.Family, err
		s.unsaid = o.Family == "" || o.Catalog == ""
		err = s.find("", o)
	case err != nil:
		return s.address.explain(err)
	default:
		s.readOnly = strings.EqualFold(d.Attributes[readOnlyKey], "true")
		if err = s.chooseFamily(d.Families, o.Family); err == nil {
			s.schema = familyOf(d.Families, s.family)
			err = s.find(d.Attributes[CatalogAttribute], o)
		}
	}
	return err
}

// chooseFamily takes the family that is asked for, or the only one.
func (s *Store) chooseFamily(families []wire.FamilySchema, asked string) error {
	var names []string
	for _, f := range families {
		names = append(names, f.Name)
	}
	switch {
	case slices.Contains(names, asked):
		s.family = asked
	case asked != "":
		return s.address.explain(fmt.Errorf("%w: %q; there is %s", hbase.ErrNoFamily, asked, strings.Join(names, ", ")))
	case len(names) == 1:
		s.family = names[0]
	default:
		return s.address.explain(fmt.Errorf("%w: none is named, and there are several: %s", hbase.ErrNoFamily, strings.Join(names, ", ")))
	}
	return nil
}

// find settles where the catalog is. A table and a job that name different ones
// are refused: its loads would not know of each other.
func (s *Store) find(attribute string, o Options) error {
	switch {
	case attribute != "" && o.Catalog != "" && strings.TrimRight(attribute, "/") != strings.TrimRight(o.Catalog, "/"):
		return fmt.Errorf("table %s: %w: its attribute %s says %s, the job says %s", s.address, table.ErrUnfit, CatalogAttribute, attribute, o.Catalog)
	case attribute != "":
		s.dir = attribute
	case o.Catalog != "":
		s.dir = o.Catalog
	default:
		root, err := o.Conf.Get("fs.defaultFS")
		if err != nil {
			return err
		}
		if dfs.Scheme(root) == "" || dfs.Scheme(root) == "file" {
			return fmt.Errorf("table %s: %w: nothing says where its catalog is: say table: {path: …, catalog: DIR} in the job, or set $HADOOP_CONF_DIR",
				s.address, table.ErrUnfit)
		}
		s.dir = dfs.Join(root, s.address.folder())
	}
	return nil
}

// home is where HBase's files lie.
func (a Address) home(o Options) (string, error) {
	root := o.Root
	if root == "" {
		var err error
		if root, err = o.Conf.Get("hbase.rootdir"); err != nil {
			return "", err
		}
	}
	if root == "" {
		return "", fmt.Errorf("table %s: %w: nothing says where HBase keeps its files: say table: {path: …, root: hdfs://NAMENODE/hbase} in the job, or set $HADOOP_CONF_DIR to a folder whose hbase-site.xml has hbase.rootdir",
			a, table.ErrUnfit)
	}
	return strings.TrimRight(root, "/"), nil
}

// Address implements table.Store.
func (s *Store) Address() string { return s.address.String() }

// Catalog is the directory of the table's catalog.
func (s *Store) Catalog() string { return s.dir }

// Lock implements table.Store.
func (s *Store) Lock(ctx context.Context) (dfs.Lock, error) { return catalog.Lock(ctx, s.fs, s.dir) }

// Unproved lets Open believe the catalog without asking HBase for rows: the caller compares
// the two itself, or reads the rows elsewhere.
func (s *Store) Unproved() { s.unproved = true }

// Open implements table.Store. A catalog of another table is refused, and one whose newest
// loads left nothing in the table.
func (s *Store) Open(ctx context.Context) (table.Loader, error) {
	// What a load leaves is read before the manifest: one that ends in between is in
	// one of them at least.
	p, err := s.perhaps(ctx)
	if err != nil {
		return nil, err
	}
	c, err := catalog.Open(ctx, s.fs, s.dir)
	if err != nil {
		return nil, err
	}
	m := c.Manifest()
	if s.family == "" {
		s.family = m.Family
	}
	if m.Family != s.family || !s.address.same(m.Address) {
		return nil, fmt.Errorf("table %s: %w: the catalog %s is that of %s, family %s", s.address, table.ErrUnfit, s.dir, m.Address, m.Family)
	}
	if err := s.sameCluster(ctx, c); err != nil {
		return nil, err
	}
	for _, schema := range p.schemas {
		// Rows of new behaviours may be there, and new fields have their places.
		if err := c.Extend(schema); err != nil {
			return nil, fmt.Errorf("%w: a load that is under way, or was killed: %w", table.ErrUnfit, err)
		}
	}
	t := newTable(s, c)
	t.perhaps = p
	if s.unproved {
		return t, nil
	}
	if err := t.checkRows(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// sameCluster refuses a catalog whose table is in another cluster: two clusters can have
// one default file system and tables of one name.
func (s *Store) sameCluster(ctx context.Context, c *catalog.Catalog) error {
	id, err := s.client.ClusterID(ctx)
	if err != nil {
		return s.address.explain(err)
	}
	switch has := c.Manifest().Cluster; {
	case id == "" || id == has:
	case has == "":
		c.SetCluster(id)
	default:
		return fmt.Errorf("table %s: %w: the catalog %s is that of a table in another HBase cluster, whose ID is %s; this one's is %s. "+
			"If there are two clusters, name another catalog: table: {path: …, catalog: DIR} in the job. "+
			"If this cluster took the other's place and has the table's rows, remove `\"cluster\": %q,` from %s/manifest.json, and its first field, the checksum. If the table is empty, set the catalog aside by `bulkload forget`",
			s.address, table.ErrUnfit, s.dir, has, id, has, s.dir)
	}
	return nil
}

// same says whether an address, as a catalog has it, is of the same table. The
// quorum of one cluster may be written in many ways, so it is not compared.
func (a Address) same(address string) bool {
	return strings.HasSuffix(strings.SplitN(address, "?", 2)[0], "/"+a.Table)
}

// New implements table.Store. The regions are HBase's, and so is the codec.
func (s *Store) New(ctx context.Context, p table.Plan) (table.Loader, error) {
	if s.unsaid {
		// A second catalog would number files that the first has numbered.
		return nil, fmt.Errorf("table %s: %w: HBase tells its family and its catalog only to who may alter it: say both in the job, table: {family: …, catalog: …}: %w",
			s.address, table.ErrUnfit, s.untold)
	}
	id, err := s.client.ClusterID(ctx)
	if err != nil {
		return nil, s.address.explain(err)
	}
	c, err := catalog.New(s.fs, s.dir, &manifest.Table{
		Address: s.address.String(), Cluster: id, Layout: p.Layout, Family: s.family, Schema: p.Schema, Splits: []manifest.Key{},
	})
	if err != nil {
		return nil, err
	}
	return newTable(s, c), nil
}

// Quarantine implements table.Store.
func (s *Store) Quarantine(path string) string { return catalog.Quarantine(s.dir, path) }

// Plans implements table.Store.
func (s *Store) Plans() string { return catalog.Plans(s.dir) }

// Close implements table.Store.
func (s *Store) Close() error { return s.client.Close() }
