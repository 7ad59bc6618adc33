package jobdraft

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/bulkload/peek"
	"usertrail/internal/bulkload/tryout"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/run/visible"
	"usertrail/internal/store/dfs"
)

// tryOut writes the draft, and reads the sample by it.
func tryOut(ctx context.Context, cfg Config, g *guessed) (*Draft, error) {
	w := g.body(cfg)
	d := &Draft{Summary: Summary{Files: len(g.found.files), SampledFiles: g.looked, Reasons: map[string]int{}, LeftOut: g.left, Others: g.others}}
	for _, k := range g.kinds {
		d.Behaviours = append(d.Behaviours, k.name)
	}
	var whyBad []string
	j, err := job.Parse(cfg.Name, []byte(w.String()))
	if err != nil {
		j = nil // keys to fill in
	}
	if g.doubtPaths(cfg, j, d) {
		w = g.body(cfg)
	}
	if j != nil {
		t, err := d.readSample(ctx, cfg, j, g)
		if err != nil {
			return nil, err
		}
		whyBad = t.why
		if g.maxBad = d.maxBad(t.worst); g.maxBad != "" {
			g.whyBad = d.reasons()
			w = g.body(cfg)
		}
	}
	d.Unsure, d.FillIn = append([]string{}, w.notes()...), append([]string{}, w.fillIn...)
	d.Text = d.head(cfg, g, whyBad) + w.String()
	if _, err := job.Parse(cfg.Name, []byte(d.Text)); err != nil {
		d.Problem = err
	}
	return d, nil
}

// doubtPaths adds comments on the files that the job's paths do not match, and on logs that they match twice. It reports
// whether there are any, and counts the former in d. If j is nil, the paths match all files.
func (g *guessed) doubtPaths(cfg Config, j *job.Job, d *Draft) bool {
	was := len(g.pathsUnsure)
	skipped, pairs := "", 0
	var pair [2]string
	first := map[string]string{} // the first file of a name without the ending of its compression
	for i := range g.arranged.files {
		f := &g.arranged.files[i]
		if j != nil && !matches(j, nameFor(cfg, f.rel, g.found.single)) {
			d.SkippedFiles++
			skipped = cmp.Or(skipped, f.rel)
			continue
		}
		name := strings.TrimSuffix(f.rel, f.ending)
		if other, ok := first[name]; !ok {
			first[name] = f.rel
		} else if pairs++; pairs == 1 {
			pair = [2]string{other, f.rel}
		}
	}
	if d.SkippedFiles > 0 {
		g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("no path matches %s, such as %s: a load does not read such a file", english.Plural(d.SkippedFiles, "file", ""), skipped))
	}
	if pairs > 0 {
		others := ""
		if pairs > 1 {
			others = fmt.Sprintf(" (and %s)", english.Plural(pairs-1, "other pair", ""))
		}
		g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("%s and %s%s are one log by their names: a load reads both, and each event twice; remove one of the two, or write the path so that it matches only one", pair[0], pair[1], others))
	}
	return len(g.pathsUnsure) > was
}

// matches reports whether a path of a job matches a file.
func matches(j *job.Job, name string) bool {
	_, _, ok := j.Pattern.Match(name)
	return ok
}

// nameFor returns the name of a file in the job.
func nameFor(cfg Config, rel string, single bool) string {
	base := baseOf(cfg, single)
	if dfs.Scheme(base) != "" {
		return dfs.Join(base, rel)
	}
	if !path.IsAbs(base) {
		base = dfs.Join(dfs.Dir(cfg.Name), base)
	}
	return path.Join(base, rel)
}

// A tried is the result of the sample's files.
type tried struct {
	why   []string // records are bad, with the first of each reason
	worst float64  // the largest share of bad records of a file
}

// readSample reads the sample's files with a job.
func (d *Draft) readSample(ctx context.Context, cfg Config, j *job.Job, g *guessed) (*tried, error) {
	var files []tryout.File
	for _, s := range g.samples {
		if date, kind, ok := j.Pattern.Match(nameFor(cfg, s.rel, g.found.single)); ok {
			files = append(files, tryout.File{File: record.File{Path: s.name, Date: date, Kind: kind}, Limit: peek.Limit{Records: int64(cfg.Records)}})
		}
	}
	r, err := tryout.Run(ctx, tryout.Config{FS: cfg.FS, Job: j}, files)
	if err != nil {
		return nil, err
	}
	d.Read, d.Good, d.Bad, d.Skipped = r.Records, r.Good, r.Bad, r.Skipped
	t := &tried{}
	for i := range r.Results {
		f := &r.Results[i]
		if f.Unread != nil {
			t.why = append(t.why, f.Unread.Error())
			d.Reasons["unread"]++
		}
		if f.Read() > 0 {
			t.worst = max(t.worst, float64(f.Bad)/float64(f.Read()))
		}
	}
	g.skipped = skippedBy(r)
	for _, b := range r.BadReasons() {
		d.Reasons[b.Reason] = int(b.Records)
		t.why = append(t.why, fmt.Sprintf("%d %s, the first: %s: %s", b.Records, b.Reason, b.Place(), b.Detail))
	}
	return t, nil
}

// skippedBy counts the skipped records of a sample by their reason.
func skippedBy(r *tryout.Report) map[string]int64 {
	out := map[string]int64{}
	for i := range r.Behaviours {
		for _, reason := range r.Behaviours[i].Reasons {
			if !reason.Bad {
				out[reason.Reason] += reason.Records
			}
		}
	}
	return out
}

// mostBad is the share of bad records of a sampled file beyond which the draft is wrong, and
// not the records.
const mostBad = 0.3

// maxBad returns a value for max_bad with which the sampled files load, "" if the default
// lets them load or if the draft seems to be wrong.
func (d *Draft) maxBad(worst float64) string {
	if worst <= 0.01 || worst > mostBad || d.Reasons["unread"] > 0 {
		return ""
	}
	for _, percent := range []int{2, 3, 5, 8, 10, 15, 20, 30, 40} {
		if worst*150 <= float64(percent) {
			return fmt.Sprintf("%d%%", percent)
		}
	}
	return "50%"
}

// reasons lists the reasons of bad records, the commonest first.
func (d *Draft) reasons() string {
	names := slices.SortedFunc(maps.Keys(d.Reasons), func(a, b string) int {
		return cmp.Or(-cmp.Compare(d.Reasons[a], d.Reasons[b]), cmp.Compare(a, b))
	})
	return strings.Join(names, ", ")
}

// head returns the comment above the draft.
func (d *Draft) head(cfg Config, g *guessed, whyBad []string) string {
	var b strings.Builder
	say := func(format string, args ...any) {
		for line := range strings.Lines(fmt.Sprintf(format, args...)) {
			b.WriteString("# " + visible.Text(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	say("Drafted by bulkload init from %s in %s; read: %d.", english.Plural(d.Files, "file", ""), cfg.Logs, d.SampledFiles)
	switch {
	case len(d.FillIn) > 0:
		say("Not complete: fill in %s.", strings.Join(d.FillIn, ", "))
	case d.Bad == 0 && len(whyBad) == 0:
		say("With this draft %s load.", d.share())
	default:
		say("With this draft %s load. The others:", d.share())
		for _, why := range whyBad {
			say("  %s", why)
		}
		if g.maxBad == "" && job.DefaultMaxBad.Exceeded(d.Read, d.Bad) {
			say("A load refuses a file of which more than %s are bad, unless max_bad says more.", job.DefaultMaxBad)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(g.skipped)) {
		say("Records that a load skips: %s (%s).", humanize.Comma(g.skipped[reason]), reason)
	}
	for _, l := range g.left {
		say("Left out, because it is no log: %s (%s): %s.", l.Example, english.Plural(l.Files, "file", ""), l.Why)
	}
	if len(g.found.written) > 0 {
		say("Left out, because usertrail wrote the folder: %s.", wordsOf(g.found.written))
	}
	for _, o := range g.others {
		say("Written in another way, and so for another job: %s such as %s (%s).", english.Plural(o.Files, "file", ""), o.Example, o.Format)
		if len(o.Only) == 0 {
			say("The paths below match such files, too: move them to a folder of their own.")
		}
	}
	if g.found.left > 0 {
		say("Not listed, because there are very many: %s folders and files.", humanize.Comma(int64(g.found.left)))
	}
	if len(g.found.strange) > 0 {
		say("No logs, by their names: %s.", g.found.others())
	}
	for _, n := range g.notes {
		say("%s.", n)
	}
	if len(d.Unsure) > 0 {
		say("A comment with the word unsure is next to each guess.")
	}
	return b.String()
}

// share describes the share of the sample that loads.
func (s *Summary) share() string {
	percent := ""
	if s.Read > 0 {
		percent = fmt.Sprintf(" (%s)", percentOf(s.Good, s.Read))
	}
	return fmt.Sprintf("%s of %s of the sample%s", humanize.Comma(s.Good), english.Plural(int(s.Read), "record", ""), percent)
}

// percentOf returns n of all in percent with one decimal. It is 100% only if n is all.
func percentOf(n, all int64) string {
	return strconv.FormatFloat(math.Floor(float64(n)*1000/float64(all))/10, 'f', -1, 64) + "%"
}
