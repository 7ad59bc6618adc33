package metamorphic_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// play executes all steps of a sequence in a new directory. It returns the number of the step
// that fails, the script so far, and the failure.
func play(t testing.TB, p *programs, q *Sequence) (step int, text string, why error) {
	x := newRun(t, p, q)
	defer x.end(t)
	for i := range q.Steps {
		x.script.line("\n# %s", q.Steps[i].Do)
		if why = x.step(&q.Steps[i]); why != nil {
			x.script.line("# wrong: %s", strings.ReplaceAll(why.Error(), "\n", "\n# "))
			return i + 1, prologue + x.script.String(), why
		}
	}
	return 0, prologue + x.script.String(), nil
}

// attempts is the largest number of runs of a sequence while it is shrunk.
const attempts = 300

// slowAttempts is the same for slow sequences.
const slowAttempts = 15

// reruns is the largest number of runs until a failing sequence fails again.
const reruns = 3

// A shrinker makes a failing sequence smaller.
type shrinker struct {
	t    testing.TB
	p    *programs
	best *Sequence
	why  error
	text string
	kind string // kind of failure: a smaller sequence must fail in the same way
	left int
}

// shrink returns a part of a sequence that fails in the same way, its script, and its
// failure.
func shrink(t testing.TB, p *programs, q *Sequence, why error) (*Sequence, string, error) {
	s := &shrinker{t: t, p: p, best: q, why: why, kind: failureKind(why), left: attempts}
	if q.Fat || q.Real {
		s.left = slowAttempts
	}
	for n := 1; !s.try(*q); n++ { // two commands at the same time do not always end alike
		if n == reruns {
			return q, "", fmt.Errorf("%w\n(%d more runs of the same steps did not fail so)", why, n)
		}
	}
	for before := -1; before != s.size() && s.left > 0; {
		before = s.size()
		s.dropSteps()
		s.dropRecords()
		s.simplify()
	}
	return s.best, s.text, s.why
}

// failureKind returns the part of a failure's text that is the same in smaller sequences: the first
// line without its numbers, and the status of the command.
func failureKind(why error) string {
	line, _, _ := strings.Cut(why.Error(), "\n")
	kind := strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r >= '0' && r <= '9' || r == ' ' }), " ")
	return kind + endedWith.FindString(line)
}

// endedWith matches the status of a command and the expected statuses.
var endedWith = regexp.MustCompile(`ended with status -?\d+, want \[[\d ]*\]`)

func (s *shrinker) size() int {
	n := 0
	for i := range s.best.Steps {
		n += 1 + len(s.best.Steps[i].Records)
	}
	return n
}

// try runs a sequence, and keeps it if it fails in the same way.
func (s *shrinker) try(q Sequence) bool {
	if s.left--; s.left < 0 {
		return false
	}
	n, text, why := play(s.t, s.p, &q)
	if why == nil || failureKind(why) != s.kind {
		return false
	}
	q.Steps = q.Steps[:n]
	s.best, s.why, s.text = &q, why, text
	return true
}

// with returns the best sequence with other steps.
func (s *shrinker) with(steps []Step) Sequence {
	q := *s.best
	q.Steps = steps
	return q
}

// dropSteps removes steps, many at once first.
func (s *shrinker) dropSteps() {
	for n := len(s.best.Steps) / 2; n > 0; n /= 2 {
		for i := len(s.best.Steps) - n; i >= 0; i -= n {
			s.try(s.with(slices.Concat(s.best.Steps[:i], s.best.Steps[min(i+n, len(s.best.Steps)):])))
			i = min(i, len(s.best.Steps))
		}
	}
}

// dropRecords removes records of delivered files.
func (s *shrinker) dropRecords() {
	for i := 0; i < len(s.best.Steps); i++ {
		for r := len(s.best.Steps[i].Records) - 1; r >= 0 && i < len(s.best.Steps) && r < len(s.best.Steps[i].Records); r-- {
			steps := slices.Clone(s.best.Steps)
			steps[i].Records = slices.Delete(slices.Clone(steps[i].Records), r, r+1)
			s.try(s.with(steps))
		}
	}
}

// simplify removes flags, stops, steps of During, damage, types and users.
func (s *shrinker) simplify() {
	for i := 0; i < len(s.best.Steps); i++ {
		for _, simpler := range []func(*Step) bool{
			func(st *Step) bool {
				had := st.Flags != nil && st.Do != "pieces" && st.Do != "grow"
				st.Flags = nil
				return had
			},
			func(st *Step) bool { had := st.Stop != ""; st.Stop, st.During = "", nil; return had },
			func(st *Step) bool { had := st.During != nil && st.Stop == ""; st.During = nil; return had },
			func(st *Step) bool { had := st.Damage != "" && st.Do != "damage"; st.Damage = ""; return had },
			func(st *Step) bool { had := st.Types != nil && st.Do == "load"; st.Types = nil; return had },
			func(st *Step) bool { had := st.Conditions != nil; st.Conditions = nil; return had },
			func(st *Step) bool { had := st.Shown != nil; st.Shown = nil; return had },
			func(st *Step) bool { had := st.Users != nil; st.Users = nil; return had },
			func(st *Step) bool { had := st.Sample != nil; st.Sample = nil; return had },
			func(st *Step) bool { had := len(st.Lines) > 1; st.Lines = st.Lines[:min(1, len(st.Lines))]; return had },
		} {
			if i >= len(s.best.Steps) {
				return
			}
			steps := slices.Clone(s.best.Steps)
			if simpler(&steps[i]) {
				s.try(s.with(steps))
			}
		}
	}
}
