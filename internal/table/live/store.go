package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// CatalogAttribute is the attribute of an HBase table that names its catalog.
const CatalogAttribute = "usertrail.catalog"

// Options are settings of a table that are not in its address. A zero field means the default.
type Options struct {
	Catalog string // the catalog's directory; by default from the table's attribute, or usertrail/NAMESPACE/TABLE
	Family  string // the column family; by default the only family of the table
	Root    string // the folder of HBase's files; by default hbase.rootdir of Conf
	Others  bool   // other programs write rows, too
	Conf    *hadoopconf.Conf
	User    *secure.Identity // of a secured cluster; nil is the user of the ticket cache
	Client  hbase.Config     // without quorum, znode and security
}

// dial connects to the cluster of an address.
func (o Options) dial(ctx context.Context, a Address) (*hbase.Client, error) {
	user := o.User
	if user == nil {
		user = secure.New(secure.Config{})
	}
	var err error
	if o.Client.Security, err = hbase.NewSecurity(o.Conf, user); err != nil {
		return nil, err
	}
	o.Client.ZooKeeper, o.Client.Znode = a.Quorum, a.Parent
	return hbase.Dial(ctx, o.Client)
}

// A Store is a table in HBase. It may have no loads yet.
type Store struct {
	fs      dfs.FS
	address Address
	client  *hbase.Client
	dir     string // of the catalog
	family  string
	others  bool
	schema  *wire.FamilySchema     // nil if HBase does not describe the table
	home    func() (string, error) // returns the folder of HBase's files
	// patience is how long a file may be on its way into a region if no call is known to
	// run.
	patience time.Duration

	readOnly bool // HBase accepts no puts for the table

	unproved bool // Open does not check rows

	untold error // why HBase does not describe the table; nil if it does
	unsaid bool  // the job does not describe it either
}

// Connect finds the table called address, its family and its catalog.
func Connect(ctx context.Context, fs dfs.FS, address string, o Options) (*Store, error) {
	a, err := ParseAddress(address, o.Conf)
	if err != nil {
		return nil, err
	}
	client, err := o.dial(ctx, a)
	if err != nil {
		return nil, a.explain(err)
	}
	s := &Store{fs: fs, address: a, client: client, others: o.Others, home: func() (string, error) { return a.home(o) }, patience: cmp.Or(o.Client.CallTimeout, time.Minute)}
	if err := s.describe(ctx, o); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return s, nil
}

// describe reads the family and the catalog from HBase's description of the table. HBase shows the
// description only to users who may alter the table. For others the job must have them.
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

// chooseFamily chooses the requested family, or the only one.
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

// find sets the directory of the catalog. It returns an error if the table and the job name different
// catalogs, because loads of one would not know loads of the other.
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
			return fmt.Errorf("table %s: %w: nothing says where its catalog is: set table: {path: …, catalog: DIR} in the job, or set $HADOOP_CONF_DIR",
				s.address, table.ErrUnfit)
		}
		s.dir = dfs.Join(root, s.address.folder())
	}
	return nil
}

// home returns the folder of HBase's files.
func (a Address) home(o Options) (string, error) {
	root := o.Root
	if root == "" {
		var err error
		if root, err = o.Conf.Get("hbase.rootdir"); err != nil {
			return "", err
		}
	}
	if root == "" {
		return "", fmt.Errorf("table %s: %w: nothing says where HBase keeps its files: set table: {path: …, root: hdfs://NAMENODE/hbase} in the job, or set $HADOOP_CONF_DIR to a folder whose hbase-site.xml has hbase.rootdir",
			a, table.ErrUnfit)
	}
	return strings.TrimRight(root, "/"), nil
}

// Address implements table.Store.
func (s *Store) Address() string { return s.address.String() }

// Catalog implements table.Store.
func (s *Store) Catalog() string { return s.dir }

// Lock implements table.Store.
func (s *Store) Lock(ctx context.Context) (dfs.Lock, error) { return catalog.Lock(ctx, s.fs, s.dir) }

// Unproved makes Open accept the catalog without checking rows in HBase. The caller compares rows
// and catalog itself, or reads the rows from another place.
func (s *Store) Unproved() { s.unproved = true }

// Open implements table.Store. It refuses the catalog of another table. It also refuses a catalog
// whose newest loads have no rows in the table.
func (s *Store) Open(ctx context.Context) (table.Loader, error) {
	// The files of an unfinished load are read before the manifest. A load that ends in
	// between is then in at least one of them.
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
	if err := s.sameTable(m); err != nil {
		return nil, err
	}
	if m.Family != s.family {
		return nil, s.otherTable(m)
	}
	if err := s.sameCluster(ctx, c); err != nil {
		return nil, err
	}
	if err := s.sameLayout(p.layout, m.Layout); err != nil {
		return nil, err
	}
	for _, schema := range p.schemas {
		// The table may have rows of new behaviours, and new fields already have a place.
		if err := c.Extend(schema); err != nil {
			return nil, s.begunByOther(err)
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

// sameTable returns an error if the catalog with the manifest m belongs to another table, or is a table of files.
func (s *Store) sameTable(m *manifest.Table) error {
	switch {
	case m.Address == "":
		return fmt.Errorf("table %s: %w: %s is a table of files, not the catalog of a table in HBase: name another directory: table: {path: …, catalog: DIR} in the job", s.address, table.ErrUnfit, s.dir)
	case !s.address.same(m.Address):
		return s.otherTable(m)
	}
	return nil
}

func (s *Store) otherTable(m *manifest.Table) error {
	return fmt.Errorf("table %s: %w: the catalog %s describes another table: %s, family %s", s.address, table.ErrUnfit, s.dir, m.Address, m.Family)
}

// sameCluster returns an error if the catalog belongs to a table in another cluster. Two clusters
// can have the same default file system, and tables of the same name.
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
		return fmt.Errorf("table %s: %w: the catalog %s describes a table in another HBase cluster, whose ID is %s; the ID of this cluster is %s. "+
			"If there are two clusters, name another catalog: table: {path: …, catalog: DIR} in the job. "+
			"If this cluster took the other's place and has the table's rows, remove `\"cluster\": %q,` from %s/manifest.json, and its first field, the checksum. If the table is empty, set the catalog aside by `bulkload forget`",
			s.address, table.ErrUnfit, s.dir, has, id, has, s.dir)
	}
	return nil
}

// same reports whether the address in a catalog is an address of the same table. It does not compare
// the quorum, because there are many ways to write the quorum of one cluster.
func (a Address) same(address string) bool {
	return strings.HasSuffix(strings.SplitN(address, "?", 2)[0], "/"+a.Table)
}

// New implements table.Store. HBase determines the regions and the codec.
func (s *Store) New(ctx context.Context, p table.Plan) (table.Loader, error) {
	if s.unsaid {
		// A second catalog would assign new numbers to files that have numbers in the first.
		return nil, fmt.Errorf("table %s: %w: HBase shows its family and its catalog only to users who may alter it: set both in the job, table: {family: …, catalog: …}: %w",
			s.address, table.ErrUnfit, s.untold)
	}
	id, err := s.client.ClusterID(ctx)
	if err != nil {
		return nil, s.address.explain(err)
	}
	schema, err := s.firstSchema(ctx, p)
	if err != nil {
		return nil, err
	}
	c, err := catalog.New(s.fs, s.dir, &manifest.Table{
		Address: s.address.String(), Cluster: id, Layout: p.Layout, Family: s.family, Schema: schema, Splits: []manifest.Key{},
	})
	if err != nil {
		return nil, err
	}
	return newTable(s, c), nil
}

// firstSchema returns the schema of a new table. If a first load of puts was killed, the table has rows of it. The fields of these rows
// keep their places, and the fields of p follow. It returns an error if p does not fit these rows.
func (s *Store) firstSchema(ctx context.Context, p table.Plan) (*behaviour.Schema, error) {
	left, err := catalog.Left(ctx, s.fs, s.dir)
	if err == nil {
		err = s.sameLayout(left.Layout, p.Layout)
	}
	if err != nil {
		return nil, err
	}
	if left.Schema == nil {
		return p.Schema, nil
	}
	schema, err := left.Schema.Merge(p.Schema)
	if err != nil {
		return nil, s.begunByOther(err)
	}
	return schema, nil
}

// sameLayout returns an error if the rows of a load that is not finished have another layout than the table. left is "" if it is not known.
func (s *Store) sameLayout(left, layout string) error {
	if left == "" || left == layout {
		return nil
	}
	return s.begunByOther(fmt.Errorf("its rows have the layout %s, and the table or the job has %s", left, layout))
}

// begunByOther returns the error for a load that is not finished, and whose job does not fit.
func (s *Store) begunByOther(err error) error {
	return fmt.Errorf("table %s: %w: a load that is under way, or was killed: %w", s.address, table.ErrUnfit, err)
}

// Quarantine implements table.Store.
func (s *Store) Quarantine(path string) string { return catalog.Quarantine(s.dir, path) }

// Plans implements table.Store.
func (s *Store) Plans() string { return catalog.Plans(s.dir) }

// Close implements table.Store.
func (s *Store) Close() error { return s.client.Close() }
