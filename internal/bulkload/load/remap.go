package load

import (
	"slices"

	"usertrail/internal/behaviour"
)

// A mapped maps a kind of the job to a kind of the table. The table may have kinds and
// fields that the job does not have.
type mapped struct {
	kind   int   // index in the table's kinds
	fields []int // for each of the table's fields the job's, -1 for none; nil where they agree
}

func kindMap(from, to *behaviour.Schema) []mapped {
	out := make([]mapped, len(from.Kinds))
	for i, k := range from.Kinds {
		j, _ := to.KindByID(k.ID)
		out[i].kind = j
		if slices.Equal(k.Fields, to.Kinds[j].Fields) {
			continue
		}
		for _, f := range to.Kinds[j].Fields {
			out[i].fields = append(out[i].fields, slices.IndexFunc(k.Fields, func(o behaviour.Field) bool { return o.Name == f.Name }))
		}
	}
	return out
}

// misplaced returns the first field of from that has another position in to, or no position.
// kind is -1 if no field is misplaced. If a field is misplaced, to cannot read cells that were
// written by from: in some layouts the position of a value identifies its field, and in others
// the first field of a kind marks a record.
func misplaced(from, to *behaviour.Schema) (kind, field int) {
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
