package metamorphic_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"usertrail/internal/run/breakpoint"
)

// Markers of a job: one for each day, or one for each day and behaviour. A load leaves out a log without its marker.
const (
	readyByDay  = "day"
	readyByKind = "kind"
)

// readyPaths are the values of logs.ready.
var readyPaths = map[string]string{readyByDay: "ready/{date}/_SUCCESS", readyByKind: "ready/{date}/{behaviour}.done"}

// Flags of a load that leaves out logs that have changed a moment ago, and of one that waits for them. The longest
// wait only ends a test that hangs.
var (
	settles = []string{"--settle", "1ms"}
	waits   = []string{"--settle", "1ms", "--wait", "10m"}
)

// marker returns the path of the marker of a day and behaviour.
func (j *Job) marker(date, kind string) string {
	return strings.NewReplacer("{date}", date, "{behaviour}", kind).Replace(readyPaths[j.Ready])
}

// unmarked reports whether a log lacks a marker. A log without a date or behaviour in its path needs the markers of all
// requested dates or behaviours.
func (m *model) unmarked(s *Step, path string) bool {
	from, until, kinds := s.From, s.Until, m.types(s)
	if d := dateOf(path); d != "" {
		from, until = d, d
	}
	if m.Logs == daily {
		kinds = []string{kindOf(path)}
	}
	return m.lacksMarker(from, until, kinds)
}

// lacksMarker reports whether a marker of some dates and behaviours is missing.
func (m *model) lacksMarker(from, until string, kinds []string) bool {
	return m.job.Ready != "" && slices.ContainsFunc(days, func(d string) bool {
		return from <= d && d <= until && slices.ContainsFunc(kinds, func(k string) bool { return !m.marks[m.job.marker(d, k)] })
	})
}

// lacksLog reports whether a load with --wait would wait for a log, because a day or behaviour has none.
func (m *model) lacksLog(s *Step) bool {
	found := m.found(s)
	if m.Logs == export {
		return len(found) == 0
	}
	return slices.ContainsFunc(days, func(d string) bool {
		return s.From <= d && d <= s.Until && slices.ContainsFunc(m.types(s), func(k string) bool {
			return !slices.ContainsFunc(found, func(path string) bool { return dateOf(path) == d && (m.Logs == dated || kindOf(path) == k) })
		})
	})
}

// mark writes the markers of some dates, and of some behaviours if each has its own.
func (x *run) mark(s *Step) error {
	if x.job.Ready == "" {
		return nil // the sequence was shrunk
	}
	for _, d := range days {
		for _, k := range s.Types {
			name := x.job.marker(d, k)
			if d < s.From || s.Until < d || x.marks[name] {
				continue
			}
			x.marks[name] = true
			if err := x.write(name, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// growing runs a load that stops when it has the lock. Then logs grow or arrive. The load leaves them out, or waits until they do not
// change any more. If the job names markers, only the markers count.
func (x *run) growing(s *Step) error {
	waiting := slices.Contains(s.Flags, "--wait")
	if x.half != nil || x.held[s.Table] || waiting && (x.job.Ready == "" && x.lacksLog(s) || x.lacksMarker(s.From, s.Until, x.types(s))) {
		return nil // the sequence was shrunk
	}
	before := maps.Clone(x.files)
	got, err := x.loads(s)
	if err != nil {
		return err
	}
	if got.stopped && x.job.Ready == "" && !waiting {
		x.grows = map[string]bool{}
		for path, f := range x.files {
			x.grows[path] = before[path] != f
		}
	}
	o := x.model.load(s)
	x.grows = nil
	return x.apply(s, o, got, breakpoint.Loaded)
}

// loads runs the command of a load.
func (x *run) loads(s *Step) (said, error) {
	if err := x.jobFile(s); err != nil {
		return said{}, err
	}
	return x.command(s, "bulkload", "", x.loadLine(s, s.Flags)...)
}

// wait starts a load that waits for markers. Then logs and the markers arrive. The load must load these logs.
func (x *run) wait(s *Step) error {
	if x.half != nil || !x.lacksMarker(s.From, s.Until, x.types(s)) {
		return nil // the sequence was shrunk
	}
	if err := x.jobFile(s); err != nil {
		return err
	}
	x.calls++
	args := x.loadLine(s, waits)
	x.shown = words("bulkload", args) + " & first=$!"
	r, err := x.start(&Step{}, "bulkload", "", args)
	if err != nil {
		return err
	}
	marks := Step{Do: "mark", From: s.From, Until: s.Until, Types: x.types(s)}
	for _, next := range append(slices.Clone(s.During), marks) {
		if err := x.do(&next); err != nil {
			r.kill()
			return err
		}
	}
	x.script.line("wait $first")
	var got said
	if got.reply, err = r.wait(); err != nil {
		return err
	}
	if err := x.heard(&got, "bulkload", args); err != nil {
		return err
	}
	x.endings[fmt.Sprintf("wait %d", got.Status)]++
	return x.apply(s, x.model.load(s), got, "")
}

// marking generates the markers of some days.
func (d *drawer) marking() Step {
	s := Step{Do: "mark", Types: d.m.job.names()}
	d.span(&s)
	if d.r.IntN(3) == 0 {
		s.Types = some(d.r, s.Types, 1)
	}
	return s
}

// arriving generates a load while which logs or markers arrive.
func (d *drawer) arriving() Step {
	s := Step{Do: "growing", Table: d.table(), Stop: breakpoint.Begun + ":1", Flags: settles}
	d.span(&s)
	if d.r.IntN(2) == 0 {
		s.Types = some(d.r, d.m.job.names(), 1)
	}
	s.During = []Step{d.longer()}
	switch {
	case d.m.job.Ready != "" && d.m.lacksMarker(s.From, s.Until, d.m.types(&s)):
		s.Do, s.Stop, s.Flags = "wait", "", nil
	case d.r.IntN(2) == 0 && (d.m.job.Ready != "" || !d.m.lacksLog(&s)):
		s.Flags = waits
	case d.r.IntN(2) == 0:
		s.During = append(s.During, d.deliver())
	}
	return s
}

// longer generates a delivery of a log with one more record, or of a new log.
func (d *drawer) longer() Step {
	name := d.file()
	f := d.m.files[name]
	if f == nil || strings.HasSuffix(name, ".gz") || d.m.loaded(name) && d.r.IntN(8) > 0 {
		return d.deliver()
	}
	date, kind := dateOf(name), kindOf(name)
	if kind == "" {
		kind = one(d.r, d.m.job.names()...)
	}
	return Step{Do: "deliver", File: name, Columns: f.columns, Records: append(slices.Clone(f.records), d.record(date, kind))}
}
