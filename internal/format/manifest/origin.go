package manifest

import (
	"usertrail/internal/behaviour"
	"usertrail/internal/column"
)

// Origins maps the number of a delivered file to the loads that added its records.
type Origins map[uint32]*origin

type origin struct {
	replayed map[int64]int // load by offset
	parts    []portion     // in order of loads
	apart    []portion     // of loads whose files are Apart
}

// A portion is the requested part of a file in a load.
type portion struct {
	load int
	part *Part
}

// OriginsOf returns the origins of all records in the ledgers.
func OriginsOf(ledgers []*Load) Origins {
	out := Origins{}
	for _, l := range ledgers {
		for i := range l.Inputs {
			in := &l.Inputs[i]
			if in.SameAs != "" || in.Offsets == nil && in.Loaded == 0 {
				continue // it added nothing
			}
			o := out[in.Number]
			if o == nil {
				o = &origin{replayed: map[int64]int{}}
				out[in.Number] = o
			}
			if in.Offsets == nil && l.Apart {
				o.apart = append(o.apart, portion{l.Number, in.Part})
			} else if in.Offsets == nil {
				o.parts = append(o.parts, portion{l.Number, in.Part})
			}
			for _, offset := range in.Offsets {
				o.replayed[offset] = l.Number
			}
		}
	}
	return out
}

// Load returns the number of the load that added the record with a column ID. It returns
// false if no ledger has the record. If parts overlap, the first part added the record; the later
// loads added only records that the table did not have. A load whose files are Apart may have
// added the record instead. Only the file that has the record shows it.
func (o Origins) Load(id int64, date behaviour.Date, kind string) (int, bool) {
	number, offset := column.Place(id)
	x := o[number]
	if x == nil {
		return 0, false
	}
	if load, ok := x.replayed[offset]; ok {
		return load, true
	}
	for _, portions := range [...][]portion{x.parts, x.apart} {
		for _, p := range portions {
			if p.part.Has(date, kind, nil) {
				return p.load, true
			}
		}
	}
	return 0, false
}
