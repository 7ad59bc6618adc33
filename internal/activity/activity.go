// Package activity decides which users are active. The decision depends only on the
// set of behaviours that a user did within the whole span, not day by day: the same query
// run next month keeps the same users.
package activity

import (
	"fmt"
	"strconv"
	"strings"
)

// A Rule is the number of the behaviours in Asked that make a user active.
type Rule struct {
	Asked Set
	Least int // 1..Asked.Len()
}

// A Verdict is the decision about a user and its reason. It is also the name of the counter
// that is incremented.
type Verdict string

// The verdicts.
const (
	Active Verdict = "active"
	TooFew Verdict = "too few behaviours" // found, but not active
	Absent Verdict = "not found"          // no requested behaviour in the span
)

// Parse reads all, any or min:N.
func Parse(s string, asked Set) (Rule, error) {
	n := asked.Len()
	switch {
	case s == "all":
		return Rule{asked, n}, nil
	case s == "any":
		return Rule{asked, 1}, nil
	case strings.HasPrefix(s, "min:"):
		least, err := strconv.Atoi(s[len("min:"):])
		if err != nil || least < 1 {
			return Rule{}, fmt.Errorf("%q: after min:, a number of behaviours is expected, at least 1", s)
		}
		if least > n {
			return Rule{}, fmt.Errorf("%s is more than the number of requested behaviours, %d: write min:%d or less", s, n, n)
		}
		return Rule{asked, least}, nil
	}
	return Rule{}, fmt.Errorf("%q: it is all, any or min:N", s)
}

// Judge returns the verdict on a user who did the behaviours in did.
func (r Rule) Judge(did Set) Verdict {
	switch n := did.common(r.Asked); {
	case n == 0:
		return Absent
	case n < r.Least:
		return TooFew
	}
	return Active
}
