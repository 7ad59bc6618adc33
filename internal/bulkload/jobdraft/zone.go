package jobdraft

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/format/record"
)

// guessZone guesses the zone of times and dates.
func (g *guessed) guessZone() error {
	if g.zone = g.cfg.Zone; g.zone != "" {
		return nil
	}
	g.zone = "UTC"
	g.zoneUnsure = g.judgeZone()
	return g.askZone()
}

// judgeZone sets the zone if the times show it, and returns the comment on it.
func (g *guessed) judgeZone() string {
	zoned, clock, days, own := true, false, 0, 0
	hours, offsets, names := map[int]int{}, map[int64][]int64{}, map[string]bool{}
	for _, k := range g.kinds {
		if k.timeSource.column == "" {
			continue
		}
		zoned, clock = zoned && k.timeSource.zoned, clock || k.timeSource.clock
		for h, n := range k.timeSource.hours {
			hours[h] += n
		}
		for o, times := range k.timeSource.offsets {
			offsets[o] = append(offsets[o], times...)
		}
		maps.Copy(names, k.timeSource.zones)
		days, own = days+k.timeSource.read, own+k.timeSource.own
	}
	switch {
	case days > 0 && !zoned && len(names) > 0:
		return g.zoneByName(names)
	case !clock && days > 0 && !zoned:
		return "the times are days: write the zone of these days; the zone of a table never changes"
	case !zoned || days == 0:
		if names := g.zonesAfterTimes(); len(names) > 0 {
			if len(names) == 1 && strings.Contains(names[0], "/") {
				g.zone = names[0]
			}
			return fmt.Sprintf("the draft does not read the zone %s after the times: write the zone of the clocks; the zone of a table never changes", wordsOf(names))
		}
		return "the times name no zone: write the zone of the clocks, such as Asia/Shanghai; the zone of a table never changes"
	}
	best := 0
	for h := -12; h <= 14; h++ {
		if hours[h] > hours[best]+days/100 {
			best = h
		}
	}
	if len(hours) > 0 {
		g.zone = zoneAt(int64(best)*3600, slices.Concat(slices.Collect(maps.Values(offsets))...))
	}
	if len(hours) == 0 || own >= hours[best]-days/100 {
		if unsure := g.zoneByOffsets(offsets); unsure != "" {
			return unsure
		}
	}
	switch {
	case len(hours) == 0:
		return "the dates of the table are days of this zone"
	case best == 0:
		return "by UTC the times are on the days of their paths; write the zone of these days"
	}
	return fmt.Sprintf("%+d hours from UTC the times are on the days of their paths; write the zone of these days", best)
}

// zoneAfterTime matches a time of day and the name of a zone that no format of a time reads.
var zoneAfterTime = regexp.MustCompile(`[0-9]:[0-9]{2}(?:[.,][0-9]+)? ?\[?((?:UTC|GMT)[-+][0-9:]+|[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_]+)+)`)

// zonesAfterTimes returns the names of zones that follow the times in most of the first lines.
func (g *guessed) zonesAfterTimes() []string {
	names := map[string]bool{} // whether it is a zone
	lines, found := 0, 0
	for _, s := range g.samples {
		n := 0
		for line := range bytes.Lines(s.text) {
			if n++; n > firstRows {
				break
			}
			lines++
			m := zoneAfterTime.FindSubmatch(line)
			if m == nil {
				continue
			}
			name := string(m[1])
			if _, known := names[name]; !known {
				_, err := time.LoadLocation(name)
				names[name] = err == nil || !strings.Contains(name, "/")
			}
			if names[name] {
				found++
			}
		}
	}
	if found*2 <= lines {
		return nil
	}
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(names))
}

// zoneByOffsets sets the zone that has the offsets of the times at these times, and returns the comment on it. It
// returns "" if the times are in UTC. times are the times by their offsets.
func (g *guessed) zoneByOffsets(times map[int64][]int64) string {
	offsets := slices.Sorted(maps.Keys(times))
	if len(offsets) == 1 && offsets[0] == 0 {
		return ""
	}
	var texts []string
	for _, o := range offsets {
		texts = append(texts, offsetText(o))
	}
	zone, has := "", "the times have the offset "+texts[0]
	switch len(offsets) {
	case 1:
		zone = zoneAt(offsets[0], times[offsets[0]])
	case 2:
		zone = summerZones[[2]int64{offsets[0] / 60, offsets[1] / 60}]
		for _, o := range offsets {
			if !hasOffset(zone, o, times[o]) {
				zone = ""
			}
		}
		fallthrough
	default:
		has = "the times have the offsets " + english.WordSeries(texts[:min(len(texts), mostListed)], "and")
	}
	if zone == "" {
		return has + ": write the zone in which the table has its dates; the zone of a table never changes"
	}
	g.zone = zone
	return has + ", as in " + zone + ": write the zone in which the table has its dates; the zone of a table never changes"
}

// zoneByName sets the zone in which the names of zones of the times are used.
func (g *guessed) zoneByName(names map[string]bool) string {
	list := slices.Sorted(maps.Keys(names))
	known := zonesOf[list[0]]
	if len(known) == 0 {
		return fmt.Sprintf("the times name the zone %s: write the zone in which this name is used; the zone of a table never changes", strings.Join(list, " and "))
	}
	g.zone = known[0]
	are := "abbreviation " + list[0] + ", which is"
	if len(list) > 1 {
		are = "abbreviations " + english.WordSeries(list, "and") + ", which are"
	}
	return fmt.Sprintf("the times have the %s used in zones such as %s: write the zone of the clocks; the zone of a table never changes", are, strings.Join(known, " or "))
}

// maxSlack is the number of days by which the records of late files differ from the days of
// their paths. If records differ more, the path's day means something else.
const maxSlack = 31

// guessSlack judges records that are not of the days of their paths.
func (g *guessed) guessSlack() {
	furthest, outside := 0, 0
	for _, k := range g.kinds {
		if k.timeSource.outside*100 > k.timeSource.read {
			furthest, outside = max(furthest, k.timeSource.furthest), outside+k.timeSource.outside
		}
	}
	switch {
	case outside == 0:
	case furthest <= maxSlack:
		g.slack = furthest
		g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("records are up to %s off the day of their path, which slack allows", english.Plural(furthest, "day", "")))
	default:
		for i, p := range g.paths {
			g.paths[i] = dayless(p)
		}
		g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("%s in a path is not the day of its records, which are up to %s off: * stands for it, and every load reads all files", g.arranged.dayText, english.Plural(furthest, "day", "")))
	}
	// The first path that matches a file determines its day.
	slices.SortFunc(g.paths, func(a, b string) int { return cmp.Or(compareBool(!dated(a), !dated(b)), cmp.Compare(a, b)) })
	g.paths = slices.Compact(g.paths)
	all := !slices.ContainsFunc(g.paths, func(p string) bool { return !dated(p) })
	for i := range g.kinds {
		w := &g.kinds[i].timeSource
		w.noYear = w.column != "" && !record.FormatHasYear(w.format) && !all
	}
	if g.arranged.daysUnsure && slices.ContainsFunc(g.paths, dated) && outside == 0 {
		switch near, turn := g.near(); {
		case near && turn:
			g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("%s may be written in another order, and so may the times", g.arranged.dayText))
		case !near || g.arranged.daysEqual:
			g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("%s may be written in another order", g.arranged.dayText))
		}
	}
}

// near reports whether times are near the days of the paths. turn is set if all these times are read with day and month
// exchanged, too, so that they do not show that the days are read in the right way.
func (g *guessed) near() (near, turn bool) {
	turn = true
	for i := range g.kinds {
		if w := &g.kinds[i].timeSource; w.near() && w.column != "" {
			near, turn = true, turn && w.turns
		}
	}
	return near, turn
}

// doubtDigits adds a comment if no path shows whether a month or a day below 10 has a zero before it. A day in one piece has one: so
// this is about days whose parts are in folders of their own, or have units.
func (g *guessed) doubtDigits() {
	text := g.arranged.dayText
	if strings.Count(text, "{date") < 2 {
		return
	}
	for i := range g.arranged.files {
		if day := g.arranged.files[i].day; day != nil {
			if _, month, d := day.Civil(); month < 10 || d < 10 {
				return
			}
		}
	}
	g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("no path has a month or a day below 10: if such a number has one digit, %s does not stand for it, and no load reads the log: write * in place of its parts then", text))
}

// doubtLostDays adds the comment that the days of some paths have a form that a job does not read.
func (g *guessed) doubtLostDays() {
	for i := range g.arranged.files {
		if f := &g.arranged.files[i]; f.lost {
			g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("{date} stands for one day in digits, such as 2014-02-26 or 20140226, and cannot stand for the date in %s: every load looks at all files, and no load reports a missing one", f.rel))
			return
		}
	}
}
