package hbasetest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/cell"
	"usertrail/internal/hbase/wire"
)

// AddFile makes a file of cells, of one family and in order, which a bulk load may
// take.
func (c *Cluster) AddFile(path string, cells ...*cell.Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path] = cells
}

// HasFile says whether a file is where AddFile put it: a bulk load moves it away.
func (c *Cluster) HasFile(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files[path] != nil
}

// Staging are the staging directories there are, in order.
func (c *Cluster) Staging() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.staging))
}

// bulkCall returns what executes a method of the bulk load; nil is another method.
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

// regionOf finds the region that a request has in a field.
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
	token := fmt.Sprintf("hdfs://fake:8020/hbase/staging/trail__%s__%052d", strings.ReplaceAll(t.name.String(), ":", "_"), x.c.lastID)
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
	paths, ok := x.loadable(f, t, r)
	m.bool(1, ok)
	if ok {
		for _, path := range paths {
			for _, c := range x.c.files[path] {
				t.put(c.Clone())
			}
			delete(x.c.files, path)
		}
	}
	return m, nil
}

// loadable says whether a region takes all files of a request, and which they are.
// The cluster is locked.
func (x *execution) loadable(f fields, t *table, r *region) (paths []string, ok bool) {
	if !x.c.staging[string(f.bytes(5))] || f.number(3) != 1 {
		return nil, false
	}
	for _, b := range f.all(2) {
		pair, err := fieldsOf(b)
		if err != nil {
			return nil, false
		}
		family, path := pair.bytes(1), string(pair.bytes(2))
		cells := x.c.files[path]
		if len(cells) == 0 || !slices.Contains(t.families, string(family)) {
			return nil, false
		}
		for _, c := range cells {
			if !r.holds(c.Row) || !bytes.Equal(c.Family, family) {
				return nil, false
			}
		}
		paths = append(paths, path)
	}
	return paths, true
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
