package record

import (
	"slices"
	"strings"
)

// A jsonReader cuts a line of JSON into the requested columns. If a member appears twice, the
// last one is used, as in encoding/json. The texts are
//
//	string           its characters, and U+FFFD for half of a surrogate pair
//	number           its digits, with an exponent up to maxExponent written out and without a fraction of zeros
//	true, false      the word
//	object, array    its JSON, without blanks, and with characters in place of escapes
//	null             null, also for a missing member
//
// It copies only the requested columns, so its memory depends on the length of the line and not
// on the number of values in the line.
type jsonReader struct {
	names []string // names of the columns: a.b is member b of member a, or member "a.b"
	spans []span   // the columns, as spans of text
	had   []bool   // by column: whether a line had it
	taken []int    // by column: takes when its span was set, or -1
	takes int      // values of the line that were taken
	begun int      // takes at the beginning of the inner object that object is reading
	read  []inner  // of the objects that object is reading
	under []value  // of columns that other members may have set again
	text  []byte
	most  int  // bytes of text
	full  bool // the columns have more than most bytes
}

// An inner object is the value of a member that has columns.
type inner struct {
	within   string // beginning of the columns' names
	from, to int    // takes before and after it
}

// A value is an earlier value of a column. The column has it again if its later value is removed.
type value struct {
	column, taken int
	span
}

// newJSONReader returns a reader whose columns have at most most bytes together.
func newJSONReader(most int) *jsonReader {
	return &jsonReader{text: make([]byte, 0, 512), most: most}
}

// column returns the number of the column called name.
func (j *jsonReader) column(name string) int {
	for i, n := range j.names {
		if n == name {
			return i
		}
	}
	j.names = append(j.names, name)
	j.spans = append(j.spans, span{from: -1})
	j.had = append(j.had, false)
	j.taken = append(j.taken, -1)
	return len(j.names) - 1
}

// split cuts rec. Text and spans are valid until the next call.
func (j *jsonReader) split(rec []byte) error {
	for i := range j.spans {
		j.spans[i].from, j.taken[i] = -1, -1
	}
	j.text, j.full, j.takes, j.begun, j.under = j.text[:0], false, 0, 0, j.under[:0]
	v, err := jsonObject(rec)
	if err != nil {
		return err
	}
	j.object(v, "")
	return nil
}

// object handles the members of the object at the beginning of v. within is the names of the objects
// that it is in, each with a dot after it.
func (j *jsonReader) object(v []byte, within string) {
	begin := len(j.read)
	for at := firstMember(v); v[at] != '}'; {
		key, value, end := memberAt(v, at)
		j.member(key, value, within, begin)
		at = nextMember(v, end)
	}
	j.read = j.read[:begin]
}

// member handles one member of an object. It serves the columns that name the member or a
// member inside it. The inner objects of this object are in j.read from begin on.
func (j *jsonReader) member(key, v []byte, within string, begin int) {
	inside := false
	for i, name := range j.names {
		if !strings.HasPrefix(name, within) {
			continue
		}
		rest := name[len(within):]
		if len(rest) < len(key) || rest[:len(key)] != string(key) {
			continue
		}
		switch {
		case len(rest) == len(key):
			j.take(i, v)
		case rest[len(key)] == '.' && !inside:
			inside = true
			j.enter(v, name[:len(within)+len(key)+1], begin)
		}
	}
}

// enter handles the value of a member that has columns. If the member appeared before, its values inside are removed.
func (j *jsonReader) enter(v []byte, within string, begin int) {
	for i, earlier := range j.read[begin:] {
		if earlier.within == within {
			j.remove(earlier)
			j.read = slices.Delete(j.read, begin+i, begin+i+1)
			break
		}
	}
	if v[0] != '{' {
		return
	}
	from, outer := j.takes, j.begun
	j.begun = from
	j.object(v, within)
	j.begun = outer
	j.read = append(j.read, inner{within, from, j.takes})
}

// remove removes the values that were taken from an inner object. Their columns have the values before them again.
func (j *jsonReader) remove(o inner) {
	inside := func(taken int) bool { return o.from <= taken && taken < o.to }
	j.under = slices.DeleteFunc(j.under, func(v value) bool { return inside(v.taken) })
	for c, name := range j.names {
		if !strings.HasPrefix(name, o.within) || !inside(j.taken[c]) {
			continue
		}
		j.spans[c].from, j.taken[c] = -1, -1
		for i, v := range slices.Backward(j.under) {
			if v.column == c {
				j.spans[c], j.taken[c] = v.span, v.taken
				j.under = slices.Delete(j.under, i, i+1)
				break
			}
		}
	}
}

// cover keeps the value of a column before the column gets another one. A value of the object that object is reading is not kept:
// it is removed only together with the new value. So a column has at most one value for each way to write its name.
func (j *jsonReader) cover(column int) {
	j.under = slices.DeleteFunc(j.under, func(v value) bool { return v.column == column && v.taken >= j.begun })
	if taken := j.taken[column]; taken < j.begun {
		j.under = append(j.under, value{column, taken, j.spans[column]})
	}
}

// take sets a column to the text of a value.
func (j *jsonReader) take(column int, v []byte) {
	j.had[column] = true
	if j.taken[column] >= 0 {
		j.cover(column)
	}
	j.taken[column] = j.takes
	j.takes++
	from := len(j.text)
	if len(v) > j.most-from {
		j.full = true
		return
	}
	if v[0] == 'n' {
		j.spans[column] = span{from: -1}
		return
	}
	j.text = appendValue(j.text, v)
	j.spans[column] = span{from, len(j.text)}
}

// appendValue appends the text of a value.
func appendValue(dst, v []byte) []byte {
	switch v[0] {
	case '"':
		return appendUnescaped(dst, v[1:len(v)-1])
	case '{', '[':
		return appendCompact(dst, v)
	case 't', 'f', 'n':
		return append(dst, v...)
	default:
		return append(dst, plainNumber(v)...)
	}
}
