package batch

import (
	"bytes"
	"encoding/binary"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
)

// unique finds records whose key fields repeat, if the job names key fields. It compares a
// user's records of one behaviour and date, including the records in the table. If records
// have the same key, the first loaded record stays. Within a batch, the first record is the
// first in order of the file's date, the file's path, and the position in the file.
type unique struct {
	keys   []job.Unique // by the table's kinds
	layout layout.Layout
	events *lookup // nil if the table is empty

	user []byte
	seen map[dayKey]map[string]int64 // of user: column ID of the record that has a key
	key  []byte
}

func newUnique(t *target.Table, events *lookup) *unique {
	u := &unique{keys: t.Unique, layout: t.Layout, events: events, seen: map[dayKey]map[string]int64{}, key: []byte{}}
	if _, puts := table.As[table.Putter](t.Loader); t.NextLoad() == 1 && !puts { // cells that were put may have no ledger
		u.events = nil
	}
	return u
}

// repeats reports whether r is a duplicate of another record of the user of row. Records of one
// date and kind come in the order of delivery. A killed load of puts may have left r itself in
// the table.
func (u *unique) repeats(row []byte, r *behaviour.Record) (bool, error) {
	a := &u.keys[r.Kind]
	if !a.Asked() {
		return false, nil
	}
	if user := u.layout.UserKey(row); !bytes.Equal(user, u.user) {
		u.user = append(u.user[:0], user...)
		clear(u.seen)
	}
	seen, err := u.of(r)
	if err != nil {
		return false, err
	}
	k := u.keyOf(a, r.Time, func(i int) []byte { return r.Values[i] })
	if k == nil {
		return false, nil
	}
	if id, ok := seen[string(k)]; ok {
		return id != r.ID, nil
	}
	seen[string(k)] = r.ID
	return false, nil
}

// of returns the keys of the user's records of r's date and kind.
func (u *unique) of(r *behaviour.Record) (map[string]int64, error) {
	day := dayKey{r.Date, r.Kind}
	seen := u.seen[day]
	if seen != nil {
		return seen, nil
	}
	seen = map[string]int64{}
	u.seen[day] = seen
	if u.events == nil {
		return seen, nil
	}
	return seen, u.lookUp(day, seen)
}

// keyOf returns a record's key fields as one string, which is not nil. The next call overwrites it. It returns nil if the key has only
// fields of which the record has no value: for example, their column has another name in the log.
func (u *unique) keyOf(a *job.Unique, micros int64, value func(int) []byte) []byte {
	k, none := u.key[:0], !a.Time && len(a.Fields) > 0
	if a.Time {
		k = binary.BigEndian.AppendUint64(k, uint64(micros))
	}
	for _, f := range a.Fields {
		v := value(f)
		if v == nil {
			k = append(k, 0)
			continue
		}
		none = false
		k = append(binary.AppendUvarint(k, uint64(len(v))+1), v...)
	}
	if u.key = k; none {
		return nil
	}
	return k
}

// lookUp adds to seen the keys of the user's records of a day that are in the table.
func (u *unique) lookUp(day dayKey, seen map[string]int64) error {
	a := &u.keys[day.kind]
	b, err := u.events.events(u.user, day, a.Fields)
	if err != nil {
		return err
	}
	for i := range b.Events {
		e := &b.Events[i]
		if k := u.keyOf(a, e.Time, func(f int) []byte { return b.Value(b.Refs[int(e.Refs)+f]) }); k != nil {
			seen[string(k)] = e.ID
		}
	}
	return nil
}
