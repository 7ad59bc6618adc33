package trailfile

import "usertrail/internal/behaviour"

// A Batch holds rows of a trail file by column, in the order in which they are written.
type Batch struct {
	Rows    int
	Columns []Values // one for each column of the schema, with one entry for each row
}

// NewBatch returns a batch without rows for files of s.
func NewBatch(s Schema) Batch {
	b := Batch{Columns: make([]Values, len(s.Columns))}
	for i, c := range s.Columns {
		b.Columns[i].Type = c.Type
	}
	b.Reset()
	return b
}

// Reset removes all rows and keeps the memory.
func (b *Batch) Reset() {
	b.Rows = 0
	for i := range b.Columns {
		v := &b.Columns[i]
		v.Valid, v.Int, v.Double, v.Small, v.Code = v.Valid[:0], v.Int[:0], v.Double[:0], v.Small[:0], v.Code[:0]
		v.Str.Data, v.Str.Off = v.Str.Data[:0], append(v.Str.Off[:0], 0)
	}
}

// Values holds one column of a batch. The type of the column determines the slice: Int for
// int64 and timestamp (microseconds, UTC), Double for double, Small for date (days since
// 1970-01-01) and for bool (0 or 1), Code for strings with Column.Names, Str for other
// strings. A null has an entry too, whose value is ignored.
type Values struct {
	Type   behaviour.Type
	Valid  []bool // set only for nullable columns
	Int    []int64
	Double []float64
	Small  []int32
	Code   []uint16
	Str    Bytes
}

// NullBytes returns the size of the strings of those rows from up to to that are null. The column is
// nullable.
func (v *Values) NullBytes(from, to int) int {
	n := uint32(0)
	for i, ok := range v.Valid[from:to] {
		if !ok {
			n += v.Str.Off[from+i+1] - v.Str.Off[from+i]
		}
	}
	return int(n)
}

// Bytes is a column of byte strings: string i is Data[Off[i]:Off[i+1]].
type Bytes struct {
	Data []byte
	Off  []uint32
}

// Append adds a string.
func (s *Bytes) Append(b []byte) {
	if len(s.Off) == 0 {
		s.Off = append(s.Off, 0)
	}
	s.Data = append(s.Data, b...)
	s.Off = append(s.Off, uint32(len(s.Data)))
}

// AppendEmpty adds n empty strings.
func (s *Bytes) AppendEmpty(n int) {
	if len(s.Off) == 0 {
		s.Off = append(s.Off, 0)
	}
	end := s.Off[len(s.Off)-1]
	s.Off = grow(s.Off, n)
	for i := len(s.Off) - n; i < len(s.Off); i++ {
		s.Off[i] = end
	}
}

// At returns string i, which is a part of Data.
func (s *Bytes) At(i int) []byte { return s.Data[s.Off[i]:s.Off[i+1]] }

// len returns the number of strings.
func (s *Bytes) len() int { return max(0, len(s.Off)-1) }
