package metamorphic_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/run/breakpoint"
)

// pieces runs a load in pieces: the plan, the pieces in some order, some of them twice, and
// the commit. If the step has a Damage, a file of a piece is cut before the commit.
func (x *run) pieces(s *Step) error {
	if err := x.jobFile(s); err != nil {
		return err
	}
	o := x.model.load(s)
	plan := slices.Clone(o.statuses)
	if o.next != nil {
		plan = []int{0}
	}
	now := *s
	now.Stop = ""
	x.shown = words("bulkload", slices.Concat([]string{"plan"}, dates(s), quiet[:1], s.Flags)) + " > pieces"
	got, err := x.command(&now, "bulkload", "", slices.Concat([]string{"plan"}, dates(s), quiet[:1], s.Flags)...)
	if err != nil {
		return err
	}
	if err := got.want(plan); err != nil || o.next == nil {
		return wrapped("plan", err)
	}
	lines := slices.Collect(strings.Lines(got.Stdout))
	if err := x.loadPieces(&now, lines, append(slices.Clone(s.Order), upTo(len(lines))...)); err != nil {
		return err
	}
	if err := x.cutPiece(&now, lines); err != nil {
		return fmt.Errorf("a piece is damaged: %w", err)
	}
	if got, err = x.commitLoad(s, lines); err != nil {
		return err
	}
	if err := x.apply(s, o, got, breakpoint.Loaded); err != nil || slices.Contains(o.refusals, got.Status) {
		return err
	}
	return wrapped("after the commit", x.committedAgain(&now, lines, got.Status))
}

// loadPieces runs the pieces with the numbers of order, modulo the number of pieces.
func (x *run) loadPieces(s *Step, lines []string, order []int) error {
	for _, n := range order {
		x.shown = fmt.Sprintf("sed -n %dp pieces | %s", n%len(lines)+1, words("bulkload", append([]string{"run-piece"}, quiet...)))
		done, err := x.command(s, "bulkload", lines[n%len(lines)], append([]string{"run-piece"}, quiet...)...)
		if err != nil {
			return err
		}
		if err := done.want([]int{0}); err != nil {
			return fmt.Errorf("run-piece: %w", err)
		}
	}
	return nil
}

// commitLoad commits the pieces of a load.
func (x *run) commitLoad(s *Step, lines []string) (said, error) {
	x.shown = words("bulkload", []string{"commit", "--quiet", "--pieces", "pieces"})
	return x.command(s, "bulkload", strings.Join(lines, ""), "commit", "--quiet")
}

// cutPiece truncates a file that a piece wrote, if the step requires it. The commit must publish nothing.
// The pieces then run again. Pieces that are loaded by puts have no files, and files on a real cluster are
// not damaged.
func (x *run) cutPiece(s *Step, lines []string) error {
	if s.Damage == "" || x.inHBase(s.Table) || x.Real {
		return nil
	}
	var line struct {
		Plan string `json:"plan"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		return err
	}
	dir := "pieces/" + line.Plan
	files, err := x.listTable(s.Table + "/" + dir)
	if absent(err) || len(files) == 0 { // every file is left out
		return nil
	}
	if err != nil {
		return err
	}
	slices.Sort(files)
	name := dir + "/" + files[s.Pick%len(files)]
	b, err := x.readTable(s.Table + "/" + name)
	if err != nil {
		return err
	}
	if err := x.overwrite(s, name, b[:len(b)-1]); err != nil {
		return err
	}
	got, err := x.commitLoad(s, lines)
	if err != nil {
		return err
	}
	if err := got.want([]int{75}); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return x.loadPieces(s, lines, upTo(len(lines)))
}

// committedAgain runs the commit and a piece again, after a commit that ended with status. The commit has
// nothing to do, or it names the files again that are left out.
func (x *run) committedAgain(s *Step, lines []string, status int) error {
	if status == killed {
		return nil
	}
	if status == 0 {
		status = 99
	}
	got, err := x.commitLoad(s, lines)
	if err != nil {
		return err
	}
	if err := got.want([]int{status}); err != nil {
		return fmt.Errorf("the commit again: %w", err)
	}
	if n := got.number("loaded"); n != 0 {
		return fmt.Errorf("the commit again has loaded %d records", n)
	}
	return x.loadPieces(s, lines, []int{0})
}
