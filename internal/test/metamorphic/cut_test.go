package metamorphic_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/run/breakpoint"
)

// cut runs an extract in pieces: the plan, the pieces in some order, some of them twice, and
// the commit. The steps of During run between the plan and the pieces. A killed command runs
// again.
func (x *run) cut(s *Step) error {
	t := x.table(s.Table)
	if x.inHBase(s.Table) && (t == nil || x.half != nil) {
		return nil // the result is not certain
	}
	args, err := x.query(s)
	if err != nil {
		return err
	}
	refusals, once := x.refused(s), *s
	once.Stop = ""
	x.shown = words("extract", slices.Concat([]string{"plan"}, args)) + " > pieces"
	plan, err := x.command(&once, "extract", "", slices.Concat([]string{"plan"}, args)...)
	asked := ""
	if t != nil {
		asked = fmt.Sprint(t.query(s), s.From, s.Until, s.Flags, s.Overwrite, t.version(), t.String())
	}
	switch {
	case err != nil:
		return err
	case plan.Status == 99 && asked != "" && x.made[s.Out] == asked:
		return nil
	case x.cannot(s, plan):
		return nil
	case len(refusals) > 0:
		return wrapped("extract plan --out "+s.Out, plan.want(refusals))
	}
	if err := plan.want([]int{0}); err != nil {
		return fmt.Errorf("extract plan --out %s: %w", s.Out, err)
	}
	delete(x.made, s.Out)
	want, maimed := t.extract(s), x.maimed
	x.maimed = true // until the commit, the pieces are next to the result
	for i := range s.During {
		if err := x.do(&s.During[i]); err != nil {
			return fmt.Errorf("between plan and run-piece: %w", err)
		}
	}
	if err := x.runPieces(s, plan.Stdout, x.since(s.Table, t)); err != nil {
		if errors.Is(err, errChanged) {
			return nil
		}
		return err
	}
	if err := x.commitCut(s, plan.Stdout, asked, want); err != nil {
		return err
	}
	x.maimed = maimed || s.Stop != ""
	return nil
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

// runPieces runs all pieces of a plan, beginning with the pieces in the step's order.
func (x *run) runPieces(s *Step, plan string, statuses []int) error {
	lines := slices.Collect(strings.Lines(plan))
	stop := *s
	stop.During = nil
	if strings.HasPrefix(s.Stop, breakpoint.Publish) { // a step of the commit
		stop.Stop = ""
	}
	for _, n := range append(slices.Clone(s.Order), upTo(len(lines))...) {
		for {
			x.shown = fmt.Sprintf("sed -n %dp pieces | %s", n%len(lines)+1, words("extract", []string{"run-piece", "--quiet", "--memory", "128MiB"}))
			did, err := x.command(&stop, "extract", lines[n%len(lines)], "run-piece", "--quiet", "--memory", "128MiB")
			if err != nil {
				return err
			}
			stop.Stop = ""
			if did.Status == killed {
				continue
			}
			if err := did.want(statuses); err != nil {
				return fmt.Errorf("extract run-piece: %w", err)
			}
			if did.Status == 64 {
				return errChanged
			}
			break
		}
	}
	return nil
}

// commitCut commits a plan whose pieces are done. A second commit has nothing to do.
func (x *run) commitCut(s *Step, plan, asked string, want result) error {
	stop := *s
	stop.During = nil
	if !strings.HasPrefix(s.Stop, breakpoint.Publish) {
		stop.Stop = ""
	}
	for range 2 {
		x.shown = words("extract", []string{"commit", "--quiet", "--pieces", "pieces"})
		did, err := x.command(&stop, "extract", plan, "commit", "--quiet")
		if err != nil {
			return err
		}
		statuses := []int{0}
		if x.made[s.Out] == asked {
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
		x.outs[s.Out], x.made[s.Out] = true, asked
		if did.Status == 0 {
			if err := x.compareResult(s, did, want); err != nil {
				return err
			}
		}
		stop.Stop = ""
	}
	return nil
}
