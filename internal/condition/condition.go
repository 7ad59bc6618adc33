// Package condition is the language in which an extract is told which behaviours
// and which users to keep. It has three kinds of text, all checked against the
// schema before anything is read:
//
//	where      play.seconds >= 600 || order.price > 0       keeps behaviours
//	having     count(play) >= 5 && sum(order.price) > 100   keeps users
//	sequence   visit -> play within 1h -> order within 1d   keeps users
//
// The first two are expressions of github.com/expr-lang/expr, of which there is:
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
// A text stands in double, single or back quotes. int64 is a whole number, double
// a number, string a text, bool true or false; timestamp and date are times, a
// date the beginning of its day in the schema's zone, and date(...) is read in
// that zone. A time less a time is a duration; a duration can be added to a time,
// or taken from it. Names that the library would not read are quoted: a behaviour
// called in is $env["in"], its field x² is $env["in"]["x²"].
//
// # Where
//
// A field is written with its behaviour: play.seconds. Of every behaviour there
// are behaviour (its name), time, hour (0..23) and weekday (1 Monday .. 7
// Sunday), both local in the schema's zone.
//
// A comparison that touches a null, a field of another behaviour than the one at
// hand, or a division by zero is false; that with !=, not in or not contains too.
// A comparison is the innermost claim that is not made of claims by !, && and ||;
// a field of type bool alone is one. So every claim is true or false, never
// unknown as in SQL, and ! turns one into the other: !(play.seconds >= 600) keeps
// orders, and plays without seconds, where SQL's NOT (seconds >= 600) does not.
// play.programme == nil and != nil ask whether a play has a value. Of an order both are
// false.
//
// # Having
//
// Fields and behaviours stand only in aggregates, over what a user has left:
//
//	count(play)  count(play.programme)  count()    how many; of those with a value; of the kinds of Counting
//	days(login)                                    on how many local dates
//	sum(order.price)  avg  min  max                of the values that are not null
//	first(play)  last(play)                        when
//
// The sum of nothing is 0; avg, min, max, first and last of nothing are null.
// sum and avg are doubles; whole numbers are added without loss, and their sum is
// then the nearest double. min and max take numbers and times, and pass over NaN. Distinct
// values are not counted: that would need memory for each of them.
//
// Arithmetic of whole numbers that leaves 64 bits is an error of the evaluation,
// not another number.
//
// # Sequence
//
// A step is a behaviour that comes later in the trail than the step before it,
// and, where it says within, not more than that later. See Sequence.
//
// What a Parse function returns may be used by many goroutines; an evaluator or
// matcher by one.
package condition

import (
	"errors"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// ErrCondition is what every text that is not a condition fails with.
var ErrCondition = errors.New("not a condition")

// Refs says what a condition reads.
type Refs struct {
	Kinds  activity.Set // kinds of which it looks at behaviours
	Fields [][]bool     // by kind of the schema, by field of the kind
}

func noRefs(s *behaviour.Schema) Refs {
	r := Refs{Fields: make([][]bool, len(s.Kinds))}
	for i, k := range s.Kinds {
		r.Fields[i] = make([]bool, len(k.Fields))
	}
	return r
}
