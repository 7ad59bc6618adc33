package manifest

import (
	"usertrail/internal/behaviour"
	"usertrail/internal/column"
)

// Origins tell which load brought a record, by the number of its delivered file.
type Origins map[uint32]*origin

type origin struct {
	replayed map[int64]int // load by offset
	parts    []portion     // in order of loads
}

// A portion is what of a file a load was asked for.
type portion struct {
	load int
	part *Part
}

// OriginsOf are those of all records that the ledgers tell of.
func OriginsOf(ledgers []*Load) Origins {
	out := Origins{}
	for _, l := range ledgers {
		for i := range l.Inputs {
			in := &l.Inputs[i]
			if in.SameAs != "" {
				continue // it brought nothing
			}
			o := out[in.Number]
			if o == nil {
				o = &origin{replayed: map[int64]int{}}
				out[in.Number] = o
			}
			if in.Offsets == nil {
				o.parts = append(o.parts, portion{l.Number, in.Part})
			}
			for _, offset := range in.Offsets {
				o.replayed[offset] = l.Number
			}
		}
	}
	return out
}

// Load is the number of the load that brought the record with a column ID; false where no
// ledger tells of it. Of parts that overlap the first brought it: the others were asked
// for what was not there.
func (o Origins) Load(id int64, date behaviour.Date, kind string) (int, bool) {
	number, offset := column.Place(id)
	x := o[number]
	if x == nil {
		return 0, false
	}
	if load, ok := x.replayed[offset]; ok {
		return load, true
	}
	for _, p := range x.parts {
		if p.part.Has(date, kind) {
			return p.load, true
		}
	}
	return 0, false
}
