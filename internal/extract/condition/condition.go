// Package condition implements the language of an extract's conditions, which select the events
// and the users to keep. There are three kinds of text. All are checked against the schema
// before anything is read:
//
//	where      play.seconds >= 600 || order.price > 0       keeps events
//	having     count(play) >= 5 && sum(order.price) > 100   keeps users
//	sequence   visit -> play within 1h -> order within 1d   keeps users
//
// The first two are expressions of github.com/expr-lang/expr with these parts:
//
//	||  &&  !  or  and  not                  between claims
//	==  !=  <  <=  >  >=  in [...]  in 1..9  between values of one type
//	contains  startsWith  endsWith  matches  of texts; matches has a pattern of Go's regexp
//	not in  not contains  ...                as != is to ==
//	+  -  *  /  %  **                        of numbers; / is never whole; + joins texts
//	lower  upper  trim  len                  of a text; len counts characters
//	abs  floor  ceil  round                  of a number
//	date("2014-09-01")  date("2014-09-01 18:30:00")  duration("1h30m")
//
// A text is written in double, single or back quotes. int64 is a whole number, double
// a number, string a text, bool true or false. timestamp and date are times; a
// date is the beginning of its day in the schema's zone, and date(...) is read in
// that zone. The difference of two times is a duration. A duration can be added to a time,
// or subtracted from it. Names that the library cannot parse are quoted: a behaviour
// called in is $env["in"], its field x² is $env["in"]["x²"].
//
// A whole number is compared exactly with a constant without a fraction, if the constant fits 64
// bits. Other comparisons of a whole number and a double compare doubles. The first value of
// a range must not be greater than its last, if both are constants.
//
// # Where
//
// A field is written with its behaviour: play.seconds. Every behaviour also has the terms
// behaviour (its name), time, hour (0..23) and weekday (1 Monday .. 7
// Sunday). hour and weekday are local in the schema's zone. A constant that they can never be
// is an error.
//
// A comparison is false if it uses a null, a field of another behaviour than the event's, or
// a division by zero. This is so for !=, not in and not contains too.
// A comparison is the innermost claim that is not composed of claims by !, && and ||;
// a field of type bool alone is a comparison. Every claim is therefore true or false, never
// unknown as in SQL, and ! turns one into the other: !(play.seconds >= 600) keeps
// orders, and plays without seconds, which SQL's NOT (seconds >= 600) does not keep.
// play.programme == nil and != nil test whether a play has a value. For an order both are
// false.
//
// # Having
//
// Fields and behaviours are allowed only in aggregates. They cover the events of a user that
// are left:
//
//	count(play)  count(play.programme)  count()    events; events with a value; events of the kinds of Counting
//	count(distinct play.programme)                 different values
//	days(login)                                    the number of local dates
//	sum(order.price)  avg  min  max                of the values that are not null
//	sum(order.price * order.quantity)              also of arithmetic with fields of one behaviour
//	first(play)  last(play)                        the time of the first, of the last
//
// The sum of no values is 0; avg, min, max, first and last of no values are null.
// sum and avg are doubles. Whole numbers are added without loss, and their sum is
// then rounded to the nearest double. min and max accept numbers and times, and skip NaN. Arithmetic in
// an aggregate has + - * / of fields and numbers. An event with a null in it, or a division by zero, is
// skipped. A count of distinct values takes 8 bytes for each value of the user; all NaN are one value,
// and so are 0 and -0.
//
// If arithmetic of whole numbers overflows 64 bits, the evaluation fails.
//
// # Sequence
//
// A step is a behaviour that comes later in the trail than the step before it.
// within limits the time since the step before. See Sequence.
//
// Many goroutines may use the result of a Parse function at once. An evaluator or a
// matcher is for one goroutine.
package condition

import (
	"errors"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// ErrCondition is wrapped by the error for every text that is not a condition.
var ErrCondition = errors.New("not a condition")

// Refs lists what a condition reads.
type Refs struct {
	Kinds  activity.Set // kinds whose events it reads
	Fields [][]bool     // by kind of the schema, by field of the kind
}

func noRefs(s *behaviour.Schema) Refs {
	r := Refs{Fields: make([][]bool, len(s.Kinds))}
	for i, k := range s.Kinds {
		r.Fields[i] = make([]bool, len(k.Fields))
	}
	return r
}
