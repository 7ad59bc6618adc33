package trailfile

import "usertrail/internal/behaviour"

// A Batch is rows of a trail file, column by column and in the order in which
// they are written. Every column has as many entries as there are rows.
type Batch struct {
	Rows      int
	User      Bytes
	Date      []int32 // days since 1970-01-01
	Time      []int64 // microseconds, UTC
	Behaviour []uint8 // index in the writer's Schema.Kinds
	ID        []int64
	Fields    []Values // one for each of the writer's columns
}

// Bytes is a column of byte strings: string i is Data[Off[i]:Off[i+1]].
type Bytes struct {
	Data []byte
	Off  []uint32
}

// Values is a nullable column. Which of the slices is used depends on Type: Int
// for int64 and timestamp, Double for double, Small for date and for bool (0 or
// 1), Str for string. A null has an entry too, whose value does not matter.
type Values struct {
	Type   behaviour.Type
	Valid  []bool
	Int    []int64
	Double []float64
	Small  []int32
	Str    Bytes
}
