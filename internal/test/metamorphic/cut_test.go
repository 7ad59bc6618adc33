package metamorphic_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/run/breakpoint"
)

// cut runs an extract in pieces: the plan, the pieces in some order, some of them twice, and
// the commit. The steps of During run before the pieces, or after the first of them if Early says so. If the step has a Damage, a
// file of a piece is damaged before the commit. A killed command runs again.
func (x *run) cut(s *Step) error {
	t := x.table(s.Table)
	if x.inHBase(s.Table) && (t == nil || x.half != nil) {
		return nil // the result is not certain
	}
	p, err := x.planCut(s, t)
	if err != nil || p == nil {
		return err
	}
	delete(x.made, s.Out)
	maimed := x.maimed
	x.maimed = true // until the commit, the pieces are next to the result
	if err := x.aroundCut(s, p); err != nil {
		if errors.Is(err, errChanged) {
			return x.planAgain(s, p)
		}
		return err
	}
	if err := x.damagePart(s, p); err != nil {
		return fmt.Errorf("a piece is damaged: %w", err)
	}
	if err := x.commitCut(s, p); err != nil {
		return err
	}
	x.maimed = maimed || s.Stop != ""
	return nil
}

// A cutPlan is the plan of an extract in pieces.
type cutPlan struct {
	args  []string
	lines []string
	asked string // the query
	table *table // when it was planned
	want  result
}

// planCut plans an extract. It returns nil if the plan has no pieces.
func (x *run) planCut(s *Step, t *table) (*cutPlan, error) {
	args, err := x.query(s)
	if err != nil {
		return nil, err
	}
	p := &cutPlan{args: slices.Concat([]string{"plan"}, args), table: t}
	refusals := x.refused(s)
	plan, err := x.plannedCut(s, p)
	if t != nil {
		p.asked = fmt.Sprint(t.query(s), t.askedFor(s), s.From, s.Until, s.Flags, s.Overwrite, t.version(), t.String())
	}
	switch {
	case err != nil:
		return nil, err
	case plan.Status == 99 && p.asked != "" && x.made[s.Out] == p.asked:
		return nil, nil
	case x.cannot(s, plan):
		return nil, nil
	case len(refusals) > 0:
		return nil, wrapped("extract plan --out "+s.Out, plan.want(refusals))
	}
	if err := plan.want([]int{0}); err != nil {
		return nil, fmt.Errorf("extract plan --out %s: %w", s.Out, err)
	}
	p.lines, p.want = slices.Collect(strings.Lines(plan.Stdout)), t.extract(s)
	return p, nil
}

// plannedCut runs the command of a plan.
func (x *run) plannedCut(s *Step, p *cutPlan) (said, error) {
	once := *s
	once.Stop = ""
	x.shown = words("extract", p.args) + " > pieces"
	return x.command(&once, "extract", "", p.args...)
}

// aroundCut runs the pieces of a plan and the steps of During. It returns errChanged if the table changes before all pieces are
// done.
func (x *run) aroundCut(s *Step, p *cutPlan) error {
	order := append(slices.Clone(s.Order), upTo(len(p.lines))...)
	first := order[:min(s.Early, len(order))]
	stop := *s
	stop.During = nil
	if strings.HasPrefix(s.Stop, breakpoint.Publish) { // a step of the commit
		stop.Stop = ""
	}
	if err := x.runPieces(&stop, p.lines, first, []int{0}); err != nil {
		return err
	}
	for i := range s.During {
		if err := x.do(&s.During[i]); err != nil {
			return fmt.Errorf("between plan and run-piece: %w", err)
		}
	}
	done := map[int]bool{}
	for _, n := range first {
		done[n%len(p.lines)] = true
	}
	for _, n := range order[len(first):] {
		statuses := x.since(s.Table, p.table)
		if done[n%len(p.lines)] {
			statuses = []int{0}
		}
		if err := x.runPieces(&stop, p.lines, []int{n}, statuses); err != nil {
			return err
		}
		done[n%len(p.lines)] = true
	}
	return nil
}

// planAgain checks that a plan whose table has changed cannot be committed, and runs the extract with a new plan.
func (x *run) planAgain(s *Step, p *cutPlan) error {
	got, err := x.committing(&Step{Do: s.Do}, p)
	if err = errors.Join(err, got.want([]int{75})); err != nil {
		return fmt.Errorf("extract commit without all pieces: %w", err)
	}
	again := *s
	again.Stop, again.During, again.Early = "", nil, 0
	return wrapped("planned again", x.cut(&again))
}

// committing runs the command of a commit.
func (x *run) committing(s *Step, p *cutPlan) (said, error) {
	x.shown = words("extract", []string{"commit", "--quiet", "--pieces", "pieces"})
	return x.command(s, "extract", strings.Join(p.lines, ""), "commit", "--quiet")
}

// errChanged ends the pieces of a table that has changed since the plan.
var errChanged = errors.New("the table has changed since the plan")

// since returns the expected statuses of a piece of a table that was t when the extract was
// planned.
func (x *run) since(name string, t *table) []int {
	switch now := x.table(name); {
	case now == nil || now.version() != t.version():
		return []int{64}
	case now.dropped != t.dropped: // its days do not exist
		return []int{0, 64}
	}
	return []int{0}
}

// version returns a text that changes if a load adds events or a drop removes some.
func (t *table) version() string { return fmt.Sprint(t.loads, len(t.events)) }

// runPieces runs the pieces with the numbers of order, modulo the number of pieces. The first piece removes Stop of s.
func (x *run) runPieces(s *Step, lines []string, order, statuses []int) error {
	for _, n := range order {
		did, err := x.runPiece(s, lines[n%len(lines)], n%len(lines))
		if err != nil {
			return err
		}
		if err := did.want(statuses); err != nil {
			return fmt.Errorf("extract run-piece: %w", err)
		}
		if did.Status == 64 {
			return errChanged
		}
	}
	return nil
}

// runPiece runs piece n, and removes Stop of s. If it is killed, it runs again.
func (x *run) runPiece(s *Step, line string, n int) (said, error) {
	for {
		args := []string{"run-piece", "--quiet", "--memory", "128MiB"}
		x.shown = fmt.Sprintf("sed -n %dp pieces | %s", n+1, words("extract", args))
		did, err := x.command(s, "extract", line, args...)
		s.Stop = ""
		if err != nil || did.Status != killed {
			return did, err
		}
	}
}

// commitCut commits a plan whose pieces are done. A second commit has nothing to do.
func (x *run) commitCut(s *Step, p *cutPlan) error {
	stop := *s
	stop.During = nil
	if !strings.HasPrefix(s.Stop, breakpoint.Publish) {
		stop.Stop = ""
	}
	for range 2 {
		did, err := x.committing(&stop, p)
		if err != nil {
			return err
		}
		statuses := []int{0}
		if x.made[s.Out] == p.asked {
			statuses = []int{99}
		}
		if did.Status == killed && !strings.HasPrefix(s.Stop, breakpoint.Published) {
			stop.Stop = ""
			continue
		}
		if did.Status != killed {
			if err := did.want(statuses); err != nil {
				return fmt.Errorf("extract commit: %w", err)
			}
		}
		x.outs[s.Out], x.made[s.Out] = true, p.asked
		if did.Status == 0 {
			if err := x.compareResult(s, did, p.want); err != nil {
				return err
			}
		}
		stop.Stop = ""
	}
	return nil
}
