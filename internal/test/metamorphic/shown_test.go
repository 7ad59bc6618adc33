package metamorphic_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
)

// Shown selects the columns of its events that a result has, and their form.
type Shown struct {
	Fields []string `json:"fields,omitempty"` // behaviour and field, with a dot between them; with Wide the columns of each behaviour; empty is all
	Local  bool     `json:"local,omitempty"`  // also local times
	Excel  bool     `json:"excel,omitempty"`  // csv for Excel
	Wide   bool     `json:"wide,omitempty"`   // one row for each user
}

// shown generates the form of a result.
func (d *drawer) shown(t *table, s *Step) *Shown {
	out := &Shown{Local: d.r.IntN(2) == 0, Excel: s.Format == "csv" && s.latest() == 0 && d.r.IntN(2) == 0}
	if s.latest() == 0 && d.r.IntN(3) == 0 { // among events of one time, IDs decide which are the latest
		out.Wide = true
		if d.r.IntN(2) == 0 {
			out.Fields = some(d.r, wideColumns, 1+d.r.IntN(3))
		}
		return out
	}
	var fields []string
	for _, k := range t.kinds {
		for _, f := range k.Fields {
			if slices.Contains(s.Types, k.Name) {
				fields = append(fields, k.Name+"."+f)
			}
		}
	}
	if len(fields) > 0 && d.r.IntN(3) > 0 {
		out.Fields = some(d.r, fields, 1+d.r.IntN(3))
	}
	return out
}

// format returns the format of a result, see readers.
func (s *Shown) format(format string) string {
	if s != nil && s.Excel {
		return "excel"
	}
	return format
}

// flags returns s as flags.
func (s *Shown) flags() (out []string) {
	if s == nil {
		return nil
	}
	if len(s.Fields) > 0 {
		out = append(out, "--fields", behaviour.Flag(s.Fields))
	}
	if s.Local {
		out = append(out, "--times", "local")
	}
	if s.Excel {
		out = append(out, "--excel")
	}
	if s.Wide {
		out = append(out, "--shape", "wide")
	}
	return out
}

// wrong reports whether s requests a field that is not one of the types in the table.
func (s *Shown) wrong(t *table, types []string) bool {
	if s == nil || s.Wide {
		return false
	}
	j := Job{Kinds: t.kinds}
	return slices.ContainsFunc(s.Fields, func(name string) bool {
		i := strings.LastIndexByte(name, '.')
		k := j.kind(name[:i])
		return k == nil || !k.takes(name[i+1:]) || !slices.Contains(types, k.Name)
	})
}

// aSecond is in microseconds.
const aSecond int64 = 1_000_000

// of returns events with the values and times that s shows.
func (s *Shown) of(events []event) []event {
	if s == nil {
		return events
	}
	out := slices.Clone(events)
	for i := range out {
		e := &out[i]
		if s.Excel {
			e.micros -= e.micros % aSecond // Excel shows it so
		}
		if len(s.Fields) == 0 || s.Wide {
			continue
		}
		e.values = maps.Clone(e.values)
		maps.DeleteFunc(e.values, func(f, _ string) bool { return !slices.Contains(s.Fields, e.kind+"."+f) })
	}
	return out
}

// check compares the texts of a result's rows with the expected events.
func (s *Shown) check(rows []map[string]string, events []event, types []string, zone string) error {
	switch {
	case s == nil:
		return nil
	case s.Wide:
		return s.checkWide(rows, events, types, zone)
	case s.Local:
		return s.checkLocal(rows, zone)
	}
	return nil
}

// checkLocal compares the local time of each row with its time.
func (s *Shown) checkLocal(rows []map[string]string, zone string) error {
	for _, texts := range rows {
		at, err := time.Parse(utcForm, texts["time"])
		if err != nil {
			return err
		}
		local := (&Record{Micros: at.UnixMicro()}).when(zone)
		if got, want := texts["local_time"], local.Format(localForm); got != want {
			return fmt.Errorf("local_time of %s is %q, want %q", texts["time"], got, want)
		}
		if got, want := texts["utc_offset"], local.Format("-07:00"); got != want {
			return fmt.Errorf("utc_offset of %s is %q, want %q", texts["time"], got, want)
		}
	}
	return nil
}

// wideColumns are the columns of each behaviour in a wide row.
var wideColumns = []string{"count", "first", "last", "days"}

// checkWide compares wide rows with the events of each user.
func (s *Shown) checkWide(rows []map[string]string, events []event, types []string, zone string) error {
	want := map[string]map[string]string{}
	for user, own := range byUser(events) {
		want[user] = s.wideRow(user, own, types, zone)
	}
	seen := map[string]bool{}
	for _, texts := range rows {
		user := texts["user_id"]
		maps.DeleteFunc(texts, func(name, _ string) bool { return strings.HasPrefix(name, "step_") })
		if seen[user] {
			return fmt.Errorf("%q has two rows", user)
		}
		if !maps.Equal(texts, want[user]) {
			return fmt.Errorf("the row of %q is %v, want %v", user, texts, want[user])
		}
		seen[user] = true
	}
	if len(rows) != len(want) {
		return fmt.Errorf("%d users come out, want %d", len(rows), len(want))
	}
	return nil
}

// wideRow returns the row of a user.
func (s *Shown) wideRow(user string, own []event, types []string, zone string) map[string]string {
	out := map[string]string{"user_id": user}
	set := func(kind, column, text string) {
		if len(s.Fields) == 0 || slices.Contains(s.Fields, strings.TrimSuffix(column, "_local")) {
			out[kind+"_"+column] = text
		}
	}
	for _, kind := range types {
		var mine []event
		dates := map[string]bool{}
		for _, e := range own {
			if e.kind == kind {
				mine, dates[e.date] = append(mine, e), true
			}
		}
		set(kind, "count", fmt.Sprint(len(mine)))
		set(kind, "days", fmt.Sprint(len(dates)))
		if len(mine) == 0 {
			continue
		}
		slices.SortFunc(mine, byTime)
		for column, e := range map[string]event{"first": mine[0], "last": mine[len(mine)-1]} {
			at := (&Record{Micros: e.micros}).when(zone)
			set(kind, column, at.UTC().Format(utcForm))
			if s.Local {
				set(kind, column+"_local", at.Format(localForm))
			}
		}
	}
	return out
}

func byUser(events []event) map[string][]event {
	out := map[string][]event{}
	for _, e := range events {
		out[e.user] = append(out[e.user], e)
	}
	return out
}
