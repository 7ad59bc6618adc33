package metamorphic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"usertrail/internal/run/breakpoint"
)

// A loadPlan is the plan of a load in pieces.
type loadPlan struct {
	step   *Step // of its commands, which are not stopped
	args   []string
	lines  []string
	files  chosen
	before *table  // when it was planned
	then   outcome // of a load at that time
}

// pieces runs a load in pieces: the plan, the pieces in some order, some of them twice, and
// the commit. The steps of During run before the pieces, or after them if Late is set. If the step has a Damage, a file of a
// piece is cut before the commit.
func (x *run) pieces(s *Step) error {
	if err := x.jobFile(s); err != nil {
		return err
	}
	p, err := x.planLoad(s)
	if err != nil || p == nil {
		return err
	}
	if err := x.aroundPieces(s, p); err != nil {
		return err
	}
	if x.loadedSince(p, true) {
		got, err := x.commitLoad(p.step, p.lines)
		return errors.Join(err, wrapped("commit of a plan whose files were loaded", got.want([]int{64})))
	}
	if err := x.void(s, p); err != nil {
		return err
	}
	if err := x.cutPiece(p.step, p.lines); err != nil {
		return fmt.Errorf("a piece is damaged: %w", err)
	}
	return x.commitPlan(s, p)
}

// planLoad plans a load. It returns nil if the plan has no pieces.
func (x *run) planLoad(s *Step) (*loadPlan, error) {
	now := *s
	now.Stop, now.During = "", nil
	p := &loadPlan{step: &now, args: slices.Concat([]string{"plan"}, dates(s), quiet[:1], s.Flags), before: x.ground(s.Table), then: x.model.load(s)}
	p.files = x.choose(p.before, s)
	statuses := p.then.statuses
	if p.then.next != nil {
		statuses = []int{0}
	}
	got, err := x.planned(p)
	if err != nil {
		return nil, err
	}
	if err := got.want(statuses); err != nil || p.then.next == nil {
		return nil, wrapped("plan", err)
	}
	p.lines = slices.Collect(strings.Lines(got.Stdout))
	return p, nil
}

// planned runs the command of a plan.
func (x *run) planned(p *loadPlan) (said, error) {
	x.shown = words("bulkload", p.args) + " > pieces"
	return x.command(p.step, "bulkload", "", p.args...)
}

// aroundPieces runs the pieces of a plan, and the steps of During. A log that changes before its piece runs is left out.
func (x *run) aroundPieces(s *Step, p *loadPlan) error {
	order := append(slices.Clone(s.Order), upTo(len(p.lines))...)
	if s.Late {
		if _, err := x.loadPieces(p.step, p.lines, order, []int{0}); err != nil {
			return err
		}
	}
	before := maps.Clone(x.files)
	for i := range s.During {
		do := &s.During[i]
		if x.copied(p) && (do.Do == "drop" || do.Do == "undrop") || s.Late && do.Do == "drop" && x.keepsOlder(s, p, do.From) {
			continue // what the ledger says of the file would depend on the pieces
		}
		if x.spoils(do) {
			continue
		}
		if err := x.do(do); err != nil {
			return fmt.Errorf("between plan and commit: %w", err)
		}
	}
	if s.Late {
		return nil
	}
	p.files.todo = slices.DeleteFunc(slices.Clone(p.files.todo), func(path string) bool {
		changed := x.files[path] != before[path]
		p.files.changed = p.files.changed || changed
		return changed
	})
	statuses := []int{0}
	if x.loadedSince(p, false) {
		statuses = []int{0, 64}
	}
	_, err := x.loadPieces(p.step, p.lines, order, statuses)
	return err
}

// spoils reports whether a step delivers a log with more bad records than the job allows. If the log is of a plan, the
// piece reports the bad records or the change.
func (x *run) spoils(s *Step) bool {
	bad := 0
	for i := range s.Records {
		if r := &s.Records[i]; !x.unknown(r) && x.job.bad(r, s.File) {
			bad++
		}
	}
	return s.Do == "deliver" && x.job.tooBad(len(s.Records), bad)
}

// loadedSince reports whether a file of the plan was loaded since, perhaps under another name. If sure is set, only files with records
// and under their own names count.
func (x *run) loadedSince(p *loadPlan, sure bool) bool {
	t := x.ground(p.step.Table)
	return slices.ContainsFunc(t.entries[len(p.before.entries):], func(e entry) bool {
		return slices.ContainsFunc(p.files.todo, func(path string) bool {
			return e.path == path && e.read > 0 || !sure && (e.path == path || e.bytes == x.files[path].bytes)
		})
	})
}

// copied reports whether a file of the plan has the bytes of another file of the plan or of the table. Dropped days
// decide which records of such a file are duplicates.
func (x *run) copied(p *loadPlan) bool {
	return slices.ContainsFunc(p.files.todo, func(path string) bool {
		b := x.files[path].bytes
		return slices.ContainsFunc(p.before.entries, func(e entry) bool { return e.path != path && e.bytes == b }) ||
			slices.ContainsFunc(p.files.todo, func(o string) bool { return o != path && x.files[o].bytes == b })
	})
}

// keepsOlder reports whether a file of the plan has records before date, and the load adds none of those that a drop of
// the days before date makes older. The finished piece of such a file is not void, unless another file of the piece makes it void.
func (x *run) keepsOlder(s *Step, p *loadPlan, date string) bool {
	return slices.ContainsFunc(p.files.todo, func(path string) bool {
		older, adds := false, false
		want, covered := x.partOf(s, path), p.before.covered(path, x.files[path].bytes)
		for i := range x.files[path].records {
			r := &x.files[path].records[i]
			if x.unknown(r) || x.job.bad(r, path) || r.date(x.job.Zone) >= date {
				continue
			}
			older = true
			adds = adds || x.wanted(p.before, r, want, covered)
		}
		return older && !adds
	})
}

// void checks the pieces of a plan after a drop, or after a drop was undone. The pieces with records of these days are void: the same plan does not
// count them, and they run again. Or the commit finds them.
func (x *run) void(s *Step, p *loadPlan) error {
	now := x.ground(s.Table)
	if now.dropped == p.before.dropped || p.files.changed || x.copied(p) || !slices.Equal(x.choose(now, s).todo, p.files.todo) {
		return nil
	}
	void := s.Late && slices.ContainsFunc(p.then.next.events[len(p.before.events):], func(e event) bool { return e.date < now.dropped })
	if void && s.Pick%2 == 0 {
		got, err := x.commitLoad(p.step, p.lines)
		if err = errors.Join(err, got.want([]int{75})); err != nil {
			return fmt.Errorf("commit of a void piece: %w", err)
		}
	}
	got, err := x.planned(p)
	if err = errors.Join(err, got.want([]int{0})); err != nil {
		return fmt.Errorf("plan after a drop: %w", err)
	}
	if got.Stdout != strings.Join(p.lines, "") {
		return fmt.Errorf("plan after a drop: other pieces:\n%s\nwant\n%s", got.Stdout, strings.Join(p.lines, ""))
	}
	done, err := x.loadPieces(p.step, p.lines, upTo(len(p.lines)), []int{0})
	if err != nil {
		return err
	}
	if n := got.number("done"); n != done || void && n == len(p.lines) || !void && !s.Late && n != len(p.lines) {
		return fmt.Errorf("plan after a drop: %d of %d pieces are done; %d were done when they ran; a piece must be void: %t", n, len(p.lines), done, void)
	}
	return nil
}

// commitPlan commits the pieces of a plan that are done.
func (x *run) commitPlan(s *Step, p *loadPlan) error {
	next := x.ground(s.Table)
	next.layout, next.zone = p.then.next.layout, p.then.next.zone
	o := x.loadOf(next, s, p.files)
	last := *s
	last.During = nil
	got, err := x.commitLoad(&last, p.lines)
	if err == nil && got.Status == 75 && next.dropped != p.before.dropped && !slices.Contains(o.statuses, 75) { // a piece is void
		if _, err = x.loadPieces(p.step, p.lines, upTo(len(p.lines)), []int{0}); err == nil {
			got, err = x.commitLoad(&last, p.lines)
		}
	}
	if err != nil {
		return err
	}
	if x.loadedSince(p, false) {
		o.refusals = append(o.refusals, 64)
	}
	if err := x.apply(&last, o, got, breakpoint.Loaded); err != nil || slices.Contains(o.refusals, got.Status) {
		return err
	}
	return wrapped("after the commit", x.committedAgain(p.step, p.lines, got.Status))
}

// loadPieces runs the pieces with the numbers of order, modulo the number of pieces. It returns how many were done before.
func (x *run) loadPieces(s *Step, lines []string, order, statuses []int) (already int, err error) {
	for _, n := range order {
		x.shown = fmt.Sprintf("sed -n %dp pieces | %s", n%len(lines)+1, words("bulkload", append([]string{"run-piece"}, quiet...)))
		done, err := x.command(s, "bulkload", lines[n%len(lines)], append([]string{"run-piece"}, quiet...)...)
		if err != nil {
			return 0, err
		}
		if err := done.want(statuses); err != nil {
			return 0, fmt.Errorf("run-piece: %w", err)
		}
		if done.last["already"] == true {
			already++
		}
	}
	return already, nil
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
	files, err := x.writtenBy(s, lines)
	if err != nil || len(files) == 0 { // every file is left out
		return err
	}
	name := files[s.Pick%len(files)]
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
	done, err := x.loadPieces(s, lines, upTo(len(lines)), []int{0})
	if err == nil && done == len(lines) {
		err = errors.New("no piece ran again")
	}
	return err
}

// writtenBy returns the files that the reports of the pieces name.
func (x *run) writtenBy(s *Step, lines []string) (files []string, err error) {
	var line struct {
		Plan string `json:"plan"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		return nil, err
	}
	for n := range lines {
		b, err := x.readTable(fmt.Sprintf("%s/plans/%s/%05d.json", s.Table, line.Plan, n))
		if err != nil {
			return nil, err
		}
		var report manifestJSON
		if err := json.Unmarshal(b, &report); err != nil {
			return nil, err
		}
		for _, f := range report.Files {
			files = append(files, f.Roll)
			if f.Name != "" {
				files = append(files, f.Name)
			}
		}
	}
	return files, nil
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
	_, err = x.loadPieces(s, lines, []int{0}, []int{0})
	return err
}
