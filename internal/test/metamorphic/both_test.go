package metamorphic_test

import (
	"errors"
	"fmt"
	"slices"
)

// both runs a load and another command on the same table at the same time: a load, or an
// extract of everything. Two loads run one after the other in either order, or one of them
// finds the lock held. An extract shows the table before the load or after it.
func (x *run) both(s *Step) error {
	if x.Store == inHBase || len(s.During) != 1 {
		return nil // the sequence was shrunk
	}
	if err := x.jobFile(s); err != nil {
		return err
	}
	other := s.During[0]
	program, args := "bulkload", slices.Concat(dates(&other), quiet)
	if other.Do == "extract" {
		t := x.table(s.Table)
		if t == nil {
			return nil
		}
		program, args = "extract", x.everything(s.Table, t)
	}
	before := x.table(s.Table)
	x.calls += 2
	x.shown = words("bulkload", slices.Concat(dates(s), quiet)) + " & first=$!"
	first, err := x.start(&Step{}, "bulkload", "", slices.Concat(dates(s), quiet))
	if err != nil {
		return err
	}
	second, err := x.start(&Step{}, program, "", args)
	if err != nil {
		return err
	}
	x.script.line("wait $first")
	var did [2]said
	for i, r := range []*running{first, second} {
		if did[i].reply, err = r.wait(); err != nil {
			return err
		}
	}
	if err := errors.Join(x.heard(&did[0], "bulkload", []string{""}), x.heard(&did[1], program, args)); err != nil {
		return err
	}
	x.endings[fmt.Sprintf("both %s %d %d", other.Do, did[0].Status, did[1].Status)]++
	if other.Do == "extract" {
		return x.loadAndExtract(s, did, before)
	}
	return x.twoLoads(s, &other, did)
}

// loadAndExtract checks a load and an extract of everything that ran at the same time.
func (x *run) loadAndExtract(s *Step, did [2]said, before *table) error {
	if err := x.apply(s, x.model.load(s), did[0], ""); err != nil {
		return err
	}
	if err := did[1].want([]int{0}); err != nil {
		return fmt.Errorf("extract next to a load: %w", err)
	}
	rows, err := rowsOf([]byte(did[1].Stdout))
	if err != nil {
		return err
	}
	after := x.table(s.Table)
	if sameEvents(rows, before.events) == nil {
		return inTrails(rows)
	}
	if err := sameEvents(rows, of(before.names(), after.events)); err != nil {
		return fmt.Errorf("an extract next to a load shows neither the table before it nor after it: %w", err)
	}
	return inTrails(rows)
}

// of returns the events of some behaviours.
func of(kinds []string, events []event) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool { return !slices.Contains(kinds, e.kind) })
}

// twoLoads checks two loads that ran at the same time.
func (x *run) twoLoads(a, b *Step, did [2]said) error {
	var lawful []int
	for _, order := range [][]*Step{{a, b}, {b, a}} {
		before := x.tables[a.Table]
		for _, s := range order {
			o := x.model.load(s)
			lawful = append(lawful, o.statuses...)
			if o.next != nil {
				x.tables[a.Table] = o.next
			}
		}
		x.tables[a.Table] = before
	}
	for i := range did {
		if err := did[i].want(append(lawful, 75)); err != nil {
			return fmt.Errorf("one of two loads at the same time: %w", err)
		}
	}
	if did[0].Status == 75 && did[1].Status == 75 && !slices.Contains(lawful, 75) {
		return errors.New("each of two loads at the same time found the lock held")
	}
	return x.settle(a, b, did[0], did[1])
}
