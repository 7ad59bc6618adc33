package metamorphic_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// A Sample chooses active users at random: --users sample:N:SEED.
type Sample struct {
	Users int    `json:"users"`
	Seed  uint64 `json:"seed,omitempty"`
}

// sample sometimes replaces the users of a step by a sample. It has a source of its own, so that the
// other steps of a seed do not depend on it.
func (d *drawer) sample(s *Step) {
	if d.samples.IntN(4) == 0 {
		s.Users = nil
		s.Sample = &Sample{Users: one(d.samples, 1, 1, 2, 3, 1000), Seed: one[uint64](d.samples, 0, 0, 7, math.MaxUint64)}
	}
}

// flag returns the value of --users.
func (s *Sample) flag() string {
	if s.Seed == 0 {
		return fmt.Sprintf("sample:%d", s.Users)
	}
	return fmt.Sprintf("sample:%d:%d", s.Users, s.Seed)
}

// sampled returns the users of a step's sample: of all users who are active by --active and --without,
// those with the smallest xxHash64 of the user ID with the seed.
func (t *table) sampled(s *Step) []string {
	judged := *s
	judged.Conditions = nil
	if by := s.sampledBy; by != nil {
		judged.From, judged.Until = by.From, by.Until
	}
	if s.Conditions != nil {
		judged.Conditions = &Conditions{Without: s.Conditions.Without}
	}
	var out []string
	for _, user := range t.users() {
		if active, _ := judged.result(t.inSpan(&judged, user), t.zone); active {
			out = append(out, user)
		}
	}
	hash := func(user string) uint64 {
		h := xxhash.NewWithSeed(s.Sample.Seed)
		h.WriteString(user) // it returns no error
		return h.Sum64()
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), strings.Compare(a, b)) })
	return out[:min(s.Sample.Users, len(out))]
}

// users returns all users of t.
func (t *table) users() []string {
	var out []string
	for _, e := range t.events {
		out = append(out, e.user)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inSpan returns the events of a user on the dates of a step.
func (t *table) inSpan(s *Step, user string) (out []event) {
	for _, e := range t.events {
		if e.user == user && s.From <= e.date && e.date <= s.Until {
			out = append(out, e)
		}
	}
	return out
}

// asked returns the users of a step, and false if it is for all users.
func (t *table) asked(s *Step) ([]string, bool) {
	switch {
	case s.Sample != nil:
		return t.sampled(s), true
	case len(s.Users) == 0:
		return t.users(), false
	}
	return slices.Compact(slices.Sorted(slices.Values(s.Users))), true
}
