package condition_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/trail"
)

// exactly compares a whole number with a decimal without rounding.
func exactly(v int, operator string, decimal *big.Rat) bool {
	order := new(big.Rat).SetInt64(int64(v)).Cmp(decimal)
	return map[string]bool{"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]
}

// TestWholeNumbersAreComparedExactlyWithDecimals uses whole numbers that a double cannot hold.
func TestWholeNumbersAreComparedExactlyWithDecimals(t *testing.T) {
	s := schema()
	values := []int{0, 1, 2, 600, -7, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	for d := -2; d <= 2; d++ {
		values = append(values, 1<<53+d, -1<<53+d)
	}
	var trl []happening
	for _, v := range values {
		trl = append(trl, happening{kind: 1, values: []any{nil, v, nil}})
	}
	b := batch(s, location(t, s), trl)
	for _, decimal := range []string{
		"0.0", "-0.0", "1.5", "600.0", "-7.0", "9007199254740992.0", "9007199254740993.0", "-9007199254740993.0", "9_007_199_254_740_993.0", "9007199254740991.",
		"9007199254740993e0", "9.007199254740993e15", "90071992547409930e-1", "9223372036854775807.0", "9223372036854775806.00", "-9223372036854775807.0", "-9223372036854775808.0",
	} {
		rat, ok := new(big.Rat).SetString(strings.ReplaceAll(decimal, "_", ""))
		if !ok {
			t.Fatal(decimal)
		}
		for _, operator := range []string{"==", "!=", "<", "<=", ">", ">="} {
			holds := func(v int) bool { return exactly(v, operator, rat) }
			keepsExactly(t, s, b, values, fmt.Sprintf("play.seconds %s %s", operator, decimal), holds)
			keepsExactly(t, s, b, values, fmt.Sprintf("%s %s play.seconds", decimal, map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]), holds)
			keepsExactly(t, s, b, values, fmt.Sprintf("play.seconds * 1 %s %s", operator, decimal), holds)
			usersExactly(t, s, b, values, fmt.Sprintf("max(play.seconds) %s %s", operator, decimal), holds)
		}
		is := func(v int) bool { return exactly(v, "==", rat) }
		keepsExactly(t, s, b, values, fmt.Sprintf("play.seconds in [%s]", decimal), is)
		keepsExactly(t, s, b, values, fmt.Sprintf("play.seconds in [0.5, 600, %s]", decimal), func(v int) bool { return v == 600 || is(v) })
		keepsExactly(t, s, b, values, fmt.Sprintf("play.seconds not in [%s, 600.0]", decimal), func(v int) bool { return v != 600 && !is(v) })
		keepsExactly(t, s, b, values, fmt.Sprintf("play.seconds in (%s)..(%s)", decimal, decimal), is)
	}
}

// keepsExactly checks which plays a condition keeps, and that they pass its tests.
func keepsExactly(t *testing.T, s *behaviour.Schema, b *trail.Batch, values []int, text string, holds func(int) bool) {
	t.Helper()
	w, err := condition.ParseWhere(text, s)
	if err != nil {
		t.Fatal(err)
	}
	e, tests := w.Evaluator(), testsOf(w, s)
	for i, v := range values {
		kept, err := e.Keeps(b, &b.Events[i])
		if err != nil || kept != holds(v) {
			t.Errorf("%s of %d: %v, %v", text, v, kept, err)
		}
		if kept && !passes(tests, b, &b.Events[i]) {
			t.Errorf("%s keeps %d, which does not pass %v", text, v, tests[1])
		}
	}
}

// usersExactly checks which users a condition keeps, if each has one play.
func usersExactly(t *testing.T, s *behaviour.Schema, b *trail.Batch, values []int, text string, holds func(int) bool) {
	t.Helper()
	h, err := condition.ParseHaving(text, s)
	if err != nil {
		t.Fatal(err)
	}
	e := h.Evaluator()
	for i, v := range values {
		e.Begin()
		e.Add(b, &b.Events[i])
		if kept, err := e.Keeps(); err != nil || kept != holds(v) {
			t.Errorf("%s of %d: %v, %v", text, v, kept, err)
		}
	}
}
