package job

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// otherText is the field with the text that named the behaviour of a record, if no other behaviour has
// the text.
const otherText = "text"

// Other returns the name of the behaviour that accepts the records of no other behaviour, or "".
func (j *Job) Other() string {
	if j.Format.Other == nil {
		return ""
	}
	return j.Schema.Kinds[*j.Format.Other].Name
}

// readOther reads which behaviour accepts the records of no other behaviour. It adds the field
// text to that behaviour, unless a field has the whole column.
func (b *builder) readOther() {
	f := &b.job.Format
	first := ""
	for _, k := range b.kinds {
		if is, ok := k.other.truth(); !ok || !is {
			continue
		}
		i, _ := f.Schema.Kind(k.schema.Name)
		switch {
		case first != "":
			k.other.wrong("%s takes the records of other behaviours already", first)
		case f.KindColumn == nil:
			k.other.wrong("a path names each behaviour of the job: other takes records of a file whose column names behaviours, see logs.behaviour")
		case b.job.SkipOthers:
			k.other.wrong("others: skip under logs.behaviour skips the same records: remove one of the two")
		default:
			f.Other = &i
			b.addText(k.other, &f.Schema.Kinds[i], &f.Kinds[i])
		}
		first = k.schema.Name
	}
}

// addText adds the field text to the behaviour that accepts all other records.
func (b *builder) addText(v value, k *behaviour.Kind, r *record.Kind) {
	column := b.job.Format.KindColumn
	for i, c := range r.Fields {
		if k.Fields[i].Type == behaviour.String && meaningOf(c) == meaningOf(*column) {
			return
		}
	}
	for _, kind := range b.job.Format.Schema.Kinds {
		for _, f := range kind.Fields {
			if behaviour.Fold(f.Name) == otherText && (f.Name != otherText || f.Type != behaviour.String || kind.ID == k.ID) {
				v.wrong("%s has the field %s, and %s would get the field %s for the text that names the behaviour: give %s a field of type string with the column %s and the pattern of logs.behaviour",
					kind.Name, f.Name, k.Name, otherText, k.Name, column.Name)
				return
			}
		}
	}
	k.Fields = append(slices.Clip(k.Fields), behaviour.Field{Name: otherText, Type: behaviour.String})
	r.Fields = append(slices.Clip(r.Fields), record.Column{Name: column.Name, Pattern: column.Pattern})
}
