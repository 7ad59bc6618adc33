package hbasetest

import (
	"maps"
	"slices"
	"time"

	"usertrail/internal/store/hbase/wire"
)

// A snapshot is a requested snapshot.
type snapshot struct {
	table       string
	description []byte // as received, with a creation time
	nonce       uint64
	asked       int // number of requests whether it is done
	fails       bool
}

// creationTime is the number of a snapshot's field that the master sets if it is missing.
const creationTime = 3

// snapshotPolls is the number of times that the master responds that a snapshot is not done.
const snapshotPolls = 2

// FailSnapshots makes the next n snapshots fail after they have begun.
func (c *Cluster) FailSnapshots(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failSnapshots = n
}

// SetMasterAhead sets how far the master's clock is ahead of the test's clock.
func (c *Cluster) SetMasterAhead(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.masterAhead = d
}

// FinishSnapshot completes a snapshot that is under way. It returns false if there is
// none.
func (c *Cluster) FinishSnapshot(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.snapshots[name]
	if s != nil {
		s.asked = snapshotPolls + 1
	}
	return s != nil
}

// masterSnapshot returns the function that executes a method about snapshots. It
// returns nil for any other method.
func (x *execution) masterSnapshot(method string) func(string, *snapshot) ([]byte, *wire.ServerError) {
	switch method {
	case "Snapshot":
		return x.takeSnapshot
	case "IsSnapshotDone":
		return x.snapshotDone
	case "DeleteSnapshot":
		return x.deleteSnapshot
	}
	return nil
}

// onSnapshot executes a method on the snapshot that a request names.
func (x *execution) onSnapshot(f fields, do func(string, *snapshot) ([]byte, *wire.ServerError)) ([]byte, *wire.ServerError) {
	s, err := f.sub(1)
	if err != nil {
		return nil, malformed(err)
	}
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	description := message(slices.Clone(f.bytes(1)))
	if !s.has(creationTime) {
		description.number(creationTime, uint64(time.Now().Add(x.c.masterAhead).UnixMilli()))
	}
	return do(string(s.bytes(1)), &snapshot{table: string(s.bytes(2)), description: description, nonce: f.number(3)})
}

func (x *execution) takeSnapshot(name string, wanted *snapshot) ([]byte, *wire.ServerError) {
	byProcedure := wanted.nonce != 0 && !x.c.cfg.OldSnapshots
	if byProcedure {
		same := func(s *snapshot) bool { return s.nonce == wanted.nonce }
		if i := slices.IndexFunc(x.c.procedures, same); i >= 0 {
			return begun(i + 1), nil
		}
	}
	old := x.c.snapshots[name]
	switch {
	case old != nil && old.done():
		return nil, final("snapshot.SnapshotExistsException", "Snapshot '%s' already stored on the filesystem.", name)
	case old != nil && !old.fails:
		return nil, final("snapshot.SnapshotCreationException", "Rejected taking %s because we are already running another snapshot", name)
	case x.c.tables[wanted.table] == nil:
		return nil, final("snapshot.SnapshotCreationException", "Table '%s' doesn't exist, can't take snapshot.", wanted.table)
	}
	if x.c.failSnapshots > 0 {
		x.c.failSnapshots--
		wanted.fails = true
	}
	x.c.snapshots[name] = wanted
	if !byProcedure {
		return begun(0), nil
	}
	x.c.procedures = append(x.c.procedures, wanted)
	return begun(len(x.c.procedures)), nil
}

// begun returns the response to "Snapshot". A procedure of ID 0 is none.
func begun(procedure int) []byte {
	var m message
	m.number(1, 300_000)
	if procedure > 0 {
		m.number(2, uint64(procedure))
	}
	return m
}

// procedureResult returns the response to "getProcedureResult".
func (x *execution) procedureResult(id uint64) []byte {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	const running, finished = 1, 2
	var m message
	if id == endedProcedure {
		m.number(1, finished)
		return m
	}
	s := x.c.procedures[id-1]
	s.asked++
	if s.asked <= snapshotPolls {
		m.number(1, running)
		return m
	}
	m.number(1, finished)
	if s.fails {
		var class, exception message
		class.bytes(1, []byte("java.io.IOException"))
		class.bytes(2, []byte(regionMoved))
		exception.bytes(2, class)
		m.bytes(5, exception)
	}
	return m
}

// regionMoved is why snapshots fail.
const regionMoved = "a region moved"

// done reports whether the snapshot can be used.
func (s *snapshot) done() bool { return !s.fails && s.asked > snapshotPolls }

func (x *execution) snapshotDone(name string, _ *snapshot) ([]byte, *wire.ServerError) {
	s := x.c.snapshots[name]
	if s == nil {
		return nil, final("snapshot.UnknownSnapshotException", "Snapshot %s is not currently running or one of the known completed snapshots.", name)
	}
	s.asked++
	if s.fails && s.asked > snapshotPolls {
		delete(x.c.snapshots, name)
		return nil, final("snapshot.HBaseSnapshotException", "Snapshot %s had an error.  %s", name, regionMoved)
	}
	var m message
	m.bool(1, s.done())
	return m, nil
}

func (x *execution) deleteSnapshot(name string, _ *snapshot) ([]byte, *wire.ServerError) {
	if s := x.c.snapshots[name]; s == nil || !s.done() {
		return nil, final("snapshot.SnapshotDoesNotExistException", "Snapshot '%s' doesn't exist on the filesystem", name)
	}
	delete(x.c.snapshots, name)
	return nil, nil
}

func (x *execution) completedSnapshots() ([]byte, *wire.ServerError) {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	var m message
	for _, name := range slices.Sorted(maps.Keys(x.c.snapshots)) {
		if s := x.c.snapshots[name]; s.done() {
			m.bytes(1, s.description)
		}
	}
	return m, nil
}

// final returns an exception with do_not_retry set.
func final(class, format string, args ...any) *wire.ServerError {
	e := exception(class, format, args...)
	e.DoNotRetry = true
	return e
}
