package wire

import "google.golang.org/protobuf/encoding/protowire"

// A Snapshot is a table as it was at a moment.
type Snapshot struct {
	Name    string
	Table   TableName
	Created uint64 // ms of the Unix epoch; if it is 0, the master sets it
	Type    SnapshotType
	Owner   string // empty where permissions are not checked
	TTL     uint64 // seconds until the master deletes it; 0 is never
}

// A SnapshotType determines whether a snapshot has the cells that the servers held in memory.
type SnapshotType uint8

// The types of snapshots.
const (
	SnapshotDisabled  SnapshotType = 0 // the table is disabled: none are in memory
	SnapshotFlush     SnapshotType = 1 // it has them: the servers flushed first
	SnapshotSkipFlush SnapshotType = 2 // it does not have them
)

// append appends the message without the fields that the master sets.
func (s *Snapshot) append(dst []byte, num protowire.Number) []byte {
	dst, at := begin(dst, num)
	dst = appendString(dst, 1, s.Name)
	if s.Table.Qualifier != "" {
		dst = appendString(dst, 2, s.Table.String())
	}
	dst = appendNonzero(dst, 3, s.Created)
	dst = appendUint(dst, 4, uint64(s.Type))
	dst = appendNonzero(dst, 8, s.TTL)
	return end(dst, at)
}

func (s *Snapshot) decode(b []byte) error {
	s.Type = SnapshotFlush // by the protocol's default
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&s.Name)
		case 2:
			var table string
			d.string(&table)
			s.Table = ParseTableName(table)
		case 3:
			d.uint64(&s.Created)
		case 4:
			if d.want(protowire.VarintType) && d.n > uint64(SnapshotSkipFlush) {
				d.refuse("type %d", d.n)
			}
			s.Type = SnapshotType(d.n)
		case 6:
			d.string(&s.Owner)
		case 8:
			d.uint64(&s.TTL)
		}
	}
	if d.err == nil && s.Name == "" {
		d.refuse("name missing")
	}
	return d.done("SnapshotDescription")
}

// SnapshotRequest is the parameter of the master's "Snapshot", "IsSnapshotDone" and
// "DeleteSnapshot", which needs no more than the name.
type SnapshotRequest struct {
	Snapshot Snapshot
	// Nonce marks all copies of one "Snapshot" request. The master takes one snapshot
	// for all of them. 0 is no nonce.
	Nonce uint64
}

// Append appends the message. The nonce is its own group.
func (r *SnapshotRequest) Append(dst []byte) []byte {
	dst = r.Snapshot.append(dst, 1)
	dst = appendNonzero(dst, 2, r.Nonce)
	return appendNonzero(dst, 3, r.Nonce)
}

// SnapshotBegun is the response to "Snapshot".
type SnapshotBegun struct {
	Limit     uint64 // ms for which the master lets the snapshot run
	Procedure uint64 // takes the snapshot; 0 if the master has no such procedure
}

// DecodeSnapshotBegun decodes the response to "Snapshot".
func DecodeSnapshotBegun(param []byte) (SnapshotBegun, error) {
	var begun SnapshotBegun
	d := decoder{rest: param}
	for d.next() {
		switch d.num {
		case 1:
			d.uint64(&begun.Limit)
		case 2:
			d.uint64(&begun.Procedure)
		}
	}
	return begun, d.done("SnapshotResponse")
}

// DecodeSnapshotDone decodes the response to "IsSnapshotDone".
func DecodeSnapshotDone(param []byte) (done bool, err error) {
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.bool(&done)
		}
	}
	return done, d.done("IsSnapshotDoneResponse")
}

// DecodeSnapshots decodes the response to the master's "GetCompletedSnapshots"; the
// request has no fields.
func DecodeSnapshots(param []byte) ([]Snapshot, error) {
	var all []Snapshot
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			var s Snapshot
			d.message(s.decode)
			all = append(all, s)
		}
	}
	return all, d.done("GetCompletedSnapshotsResponse")
}
