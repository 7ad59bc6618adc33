package target

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
)

// A kind maps a kind of the job to a kind of the table. The table may have kinds and
// fields that the job does not have.
type kind struct {
	index  int   // in the table's kinds
	fields []int // for each field of the table the index of the job's field, or -1; nil if both have the same fields
}

func kindsOf(from, to *behaviour.Schema) []kind {
	out := make([]kind, len(from.Kinds))
	for i, k := range from.Kinds {
		j, _ := to.KindByID(k.ID)
		out[i].index = j
		if slices.Equal(k.Fields, to.Kinds[j].Fields) {
			continue
		}
		for _, f := range to.Kinds[j].Fields {
			out[i].fields = append(out[i].fields, slices.IndexFunc(k.Fields, func(o behaviour.Field) bool { return o.Name == f.Name }))
		}
	}
	return out
}

// Unread returns, for each behaviour of the job, the fields of the table that the job does not have. It
// returns nil if the job has all of them.
func (t *Table) Unread() map[string][]string { return t.Job.Schema.Lacks(t.Schema) }

// FieldsBy returns a function that returns the digest of the settings by which the job reads a field of a kind of the table. It
// returns "" if the job does not have the field. One goroutine may use it.
func (t *Table) FieldsBy() func(kind, field int) string {
	by := t.Job.FieldsBy()
	return func(kind, field int) string {
		k := &t.Schema.Kinds[kind]
		return by(k.Name, k.Fields[field].Name)
	}
}

// uniqueOf returns the key fields that the job names, by the table's kinds.
func uniqueOf(j *job.Job, to *behaviour.Schema, kinds []kind) []job.Unique {
	out := make([]job.Unique, len(to.Kinds))
	for k, settings := range j.Behaviours {
		m := kinds[k]
		a := settings.Unique
		if m.fields != nil {
			a.Fields = make([]int, 0, len(settings.Unique.Fields))
			for _, f := range settings.Unique.Fields {
				a.Fields = append(a.Fields, slices.Index(m.fields, f))
			}
		}
		out[m.index] = a
	}
	return out
}

// Remap replaces the job's kind and fields of r by the table's kind and fields. It may put the values
// into buffer. It returns the buffer for the next call.
func (t *Table) Remap(r *behaviour.Record, buffer [][]byte) [][]byte {
	m := &t.kinds[r.Kind]
	r.Kind = m.index
	if m.fields == nil {
		return buffer
	}
	buffer = buffer[:0]
	for _, from := range m.fields {
		if from < 0 {
			buffer = append(buffer, nil)
		} else {
			buffer = append(buffer, r.Values[from])
		}
	}
	r.Values = buffer
	return buffer
}

// Compares reports whether the job names key fields for a kind of the job. If kind is -1, it reports
// whether the job names key fields for any kind.
func (t *Table) Compares(kind int) bool {
	for k := range t.kinds {
		if (kind < 0 || kind == k) && t.Unique[t.kinds[k].index].Asked() {
			return true
		}
	}
	return false
}

// Misplaced returns the first field of from that has another position in to, or no position.
// kind is -1 if no field is misplaced. If a field is misplaced, to cannot read cells that were
// written by from: in some layouts the position of a value identifies its field, and in others
// the first field of a kind marks a record.
func Misplaced(from, to *behaviour.Schema) (kind, field int) {
	for i, k := range from.Kinds {
		var there []behaviour.Field
		if j, ok := to.KindByID(k.ID); ok {
			there = to.Kinds[j].Fields
		}
		for f := range k.Fields {
			if f >= len(there) || there[f].Name != k.Fields[f].Name {
				return i, f
			}
		}
	}
	return -1, 0
}
