package condition

import (
	"errors"
	"math"
	"math/bits"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/builtin"

	"usertrail/internal/behaviour"
)

// ErrOverflow is wrapped if arithmetic of whole numbers overflows 64 bits. The cause is the
// condition, not the values.
var ErrOverflow = errors.New("the result does not fit 64 bits")

// functions are the functions that a text may call. date and duration are not among them:
// they are evaluated when the text is read.
var functions = map[string]*builtin.Function{
	"lower": of("lower", func(v any) (any, error) { return strings.ToLower(v.(string)), nil }, typeOf[func(string) string]()),
	"upper": of("upper", func(v any) (any, error) { return strings.ToUpper(v.(string)), nil }, typeOf[func(string) string]()),
	"trim":  of("trim", func(v any) (any, error) { return strings.TrimSpace(v.(string)), nil }, typeOf[func(string) string]()),
	"len":   of("len", func(v any) (any, error) { return utf8.RuneCountInString(v.(string)), nil }, typeOf[func(string) int]()),
	"abs":   of("abs", abs, typeOf[func(int) int](), typeOf[func(float64) float64]()),
	"floor": of("floor", rounding(math.Floor), typeOf[func(int) float64](), typeOf[func(float64) float64]()),
	"ceil":  of("ceil", rounding(math.Ceil), typeOf[func(int) float64](), typeOf[func(float64) float64]()),
	"round": of("round", rounding(math.Round), typeOf[func(int) float64](), typeOf[func(float64) float64]()),
}

// functionNames are the names of functions, and date and duration.
var functionNames = []string{"lower", "upper", "trim", "len", "abs", "floor", "ceil", "round", "date", "duration"}

// checked are the functions that add, subtract and multiply whole numbers. They return an
// error if the result overflows 64 bits. No text can call them, because their names are not
// identifiers.
var checked = map[string]*builtin.Function{
	"+": arithmetic("+", add),
	"-": arithmetic("-", subtract),
	"*": arithmetic("*", multiply),
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

func of(name string, f func(any) (any, error), types ...reflect.Type) *builtin.Function {
	return &builtin.Function{Name: name, Func: func(args ...any) (any, error) { return f(args[0]) }, Types: types}
}

func arithmetic(name string, f func(a, b int) (int, bool)) *builtin.Function {
	call := func(args ...any) (any, error) {
		v, ok := f(args[0].(int), args[1].(int))
		if !ok {
			return nil, ErrOverflow
		}
		return v, nil
	}
	return &builtin.Function{Name: name, Func: call, Types: []reflect.Type{typeOf[func(int, int) int]()}}
}

func abs(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		return math.Abs(v), nil
	case int:
		if v == math.MinInt {
			return nil, ErrOverflow
		}
		return max(v, -v), nil
	}
	return nil, errors.ErrUnsupported
}

// rounding returns f as a function that also accepts whole numbers.
func rounding(f func(float64) float64) func(any) (any, error) {
	return func(v any) (any, error) {
		if n, ok := v.(int); ok {
			return float64(n), nil
		}
		return f(v.(float64)), nil
	}
}

func add(a, b int) (int, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0)
}

func subtract(a, b int) (int, bool) {
	difference := a - b
	return difference, (difference < a) == (b > 0)
}

func multiply(a, b int) (int, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		return int(-lo), hi == 0 && lo <= 1<<63
	}
	return int(lo), hi == 0 && lo < 1<<63
}

func magnitude(n int) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// clocks are the forms of date's text, in addition to YYYY-MM-DD.
var clocks = []string{
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.RFC3339Nano,
}

// parseClock reads a time of day with its date, local in zone unless it names an offset.
func parseClock(text string, zone *time.Location) (time.Time, bool) {
	for _, layout := range clocks {
		if t, err := behaviour.ParseLocal(layout, text, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
