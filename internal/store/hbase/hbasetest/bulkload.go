package hbasetest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
)

// A Disk is a file system from which bulk loads read files.
type Disk interface {
	// Root returns the directory of HBase's files.
	Root() string
	// Cells returns the cells of the HFile path.
	Cells(path string) ([]*cell.Cell, error)
	// Move moves a file, and creates the directories above to.
	Move(from, to string) error
}

// memory is the Disk with the files of AddFile.
type memory struct{ c *Cluster }

func (m memory) Root() string { return "hdfs://fake:8020/hbase" }

func (m memory) Cells(path string) ([]*cell.Cell, error) { return m.c.files[path], nil }

func (m memory) Move(from, _ string) error {
	delete(m.c.files, from)
	return nil
}

// disk returns the Disk with the files that a bulk load names. The cluster is locked.
func (c *Cluster) disk() Disk {
	if c.cfg.Disk != nil {
		return c.cfg.Disk
	}
	return memory{c}
}

// AddFile adds a file of cells, which are of one family and in order. A bulk load may
// load it.
func (c *Cluster) AddFile(path string, cells ...*cell.Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path] = cells
}

// HasFile reports whether a file is still where AddFile put it. A bulk load moves it.
func (c *Cluster) HasFile(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files[path] != nil
}

// Staging returns the existing staging directories, in order.
func (c *Cluster) Staging() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.staging))
}

// bulkCall returns the function that executes a method of the bulk load. It returns nil
// for any other method.
func (x *execution) bulkCall(method string) func(fields) ([]byte, *wire.ServerError) {
	switch method {
	case "PrepareBulkLoad":
		return x.prepareBulkLoad
	case "BulkLoadHFile":
		return x.bulkLoad
	case "CleanupBulkLoad":
		return x.cleanupBulkLoad
	}
	return nil
}

// regionOf returns the region that a request names in a field.
func (x *execution) regionOf(f fields, num protowire.Number) (*table, *region, *wire.ServerError) {
	specifier, err := fieldsOf(f.bytes(num))
	if err != nil {
		return nil, nil, malformed(err)
	}
	if e := x.refused(specifier); e != nil {
		return nil, nil, e
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	return x.region(specifier)
}

func (x *execution) prepareBulkLoad(f fields) ([]byte, *wire.ServerError) {
	t, _, e := x.regionOf(f, 2)
	if e != nil {
		return nil, e
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	x.c.lastID++
	token := fmt.Sprintf("%s/staging/trail__%s__%052d", x.c.disk().Root(), strings.ReplaceAll(t.name.String(), ":", "_"), x.c.lastID)
	x.c.staging[token] = true
	var m message
	m.string(1, token)
	return m, nil
}

func (x *execution) bulkLoad(f fields) ([]byte, *wire.ServerError) {
	t, r, e := x.regionOf(f, 1)
	if e != nil {
		return nil, e
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	var m message
	paths, cells := x.loadable(f, t, r)
	for i, path := range paths {
		x.c.lastID++
		if x.c.disk().Move(path, fmt.Sprintf("%s/data/%032d", x.c.disk().Root(), x.c.lastID)) != nil {
			paths = nil
			break
		}
		for _, c := range cells[i] {
			t.put(c.Clone())
		}
	}
	m.bool(1, paths != nil)
	return m, nil
}

// loadable returns the files of a request and their cells. It returns nil unless the
// region can load all of them. The cluster is locked.
func (x *execution) loadable(f fields, t *table, r *region) (paths []string, all [][]*cell.Cell) {
	if !x.c.staging[string(f.bytes(5))] || f.number(3) != 1 {
		return nil, nil
	}
	for _, b := range f.all(2) {
		pair, err := fieldsOf(b)
		if err != nil {
			return nil, nil
		}
		family, path := pair.bytes(1), string(pair.bytes(2))
		cells, err := x.c.disk().Cells(path)
		if err != nil || len(cells) == 0 || !slices.Contains(t.families, string(family)) {
			return nil, nil
		}
		for _, c := range cells {
			if !r.holds(c.Row) || !bytes.Equal(c.Family, family) {
				return nil, nil
			}
		}
		paths, all = append(paths, path), append(all, cells)
	}
	return paths, all
}

func (x *execution) cleanupBulkLoad(f fields) ([]byte, *wire.ServerError) {
	if _, _, e := x.regionOf(f, 2); e != nil {
		return nil, e
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	delete(x.c.staging, string(f.bytes(1)))
	return nil, nil
}
