package hbasetest

import (
	"usertrail/internal/store/hbase/wire"
)

// master executes the master's calls. Procedures end at once, except those that take snapshots.
func (x *execution) master(method string, f fields) ([]byte, *wire.ServerError) {
	switch method {
	case "GetTableDescriptors":
		return x.describe(f)
	case "CreateTable":
		return x.create(f)
	case "getProcedureResult":
		return x.procedureResult(f.number(1)), nil
	case "EnableTable", "DisableTable", "DeleteTable":
		return x.change(method, f)
	case "GetCompletedSnapshots":
		return x.completedSnapshots()
	case "GetClusterStatus":
		return x.clusterStatus()
	}
	if do := x.masterSnapshot(method); do != nil {
		return x.onSnapshot(f, do)
	}
	return x.clientMeta(method)
}

// endedProcedure is the ID of all procedures that end at once.
const endedProcedure = 1 << 20

// procedure returns the response that names a procedure.
func procedure() []byte {
	var m message
	m.number(1, endedProcedure)
	return m
}

func parseTable(b []byte) (wire.TableName, *wire.ServerError) {
	f, err := fieldsOf(b)
	if err != nil {
		return wire.TableName{}, malformed(err)
	}
	return wire.TableName{Namespace: string(f.bytes(1)), Qualifier: string(f.bytes(2))}, nil
}

func (x *execution) describe(f fields) ([]byte, *wire.ServerError) {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	var m message
	for _, b := range f.all(1) {
		name, e := parseTable(b)
		if e != nil {
			return nil, e
		}
		if t := x.c.tables[name.String()]; t != nil {
			m.bytes(1, t.schema)
		}
	}
	return m, nil
}

func (x *execution) create(f fields) ([]byte, *wire.ServerError) {
	schema, err := f.sub(1)
	if err != nil {
		return nil, malformed(err)
	}
	name, e := parseTable(schema.bytes(1))
	if e != nil {
		return nil, e
	}
	var families []string
	for _, b := range schema.all(3) {
		family, err := fieldsOf(b)
		if err != nil {
			return nil, malformed(err)
		}
		families = append(families, string(family.bytes(1)))
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	if x.c.tables[name.String()] != nil {
		e := exception("TableExistsException", "%s", name)
		e.DoNotRetry = true
		return nil, e
	}
	x.c.createTable(name, f.bytes(1), families, f.all(2))
	return procedure(), nil
}

func (x *execution) change(method string, f fields) ([]byte, *wire.ServerError) {
	name, e := parseTable(f.bytes(1))
	if e != nil {
		return nil, e
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	t := x.c.tables[name.String()]
	if t == nil {
		e := exception("TableNotFoundException", "%s", name)
		e.DoNotRetry = true
		return nil, e
	}
	switch method {
	case "EnableTable":
		t.state = wire.TableEnabled
	case "DisableTable":
		t.state = wire.TableDisabled
	case "DeleteTable":
		if t.state != wire.TableDisabled {
			e := exception("TableNotDisabledException", "%s", name)
			e.DoNotRetry = true
			return nil, e
		}
		delete(x.c.tables, name.String())
	}
	return procedure(), nil
}
