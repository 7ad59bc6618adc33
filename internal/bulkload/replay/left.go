package replay

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
)

// A left describes the records that the replay of a file, or of the files of a folder, did not load. The result of the replay
// counts the records that are bad again, and the skipped records.
type left struct {
	files   int      // quarantine files with records that were replayed
	bad     []string // quarantine files that have the records that are bad again
	skipped []string // quarantine files that have lines of skipped records
	other   []string // quarantine files that have lines of records that the table has with another text
	others  int      // the number of these records
}

// noteLeft sets the records that the replay did not load.
func (p *replay) noteLeft(inputs []*batch.Input) {
	p.noteOthers(inputs)
	var l left
	if p.result.Read > 0 {
		l.files = 1
	}
	if p.result.Skipped > 0 {
		l.skipped = []string{p.from.name}
	}
	for i, f := range p.files {
		if inputs[i].Failed() {
			continue
		}
		if bad := inputs[i].Bad(); bad.Count() > 0 {
			l.bad = append(l.bad, bad.Name())
		}
		if n := len(f.others); n > 0 {
			l.others += n
			l.other = []string{p.from.name}
		}
	}
	p.left = l
}

// add adds the records of another file of the folder.
func (l *left) add(o *left) {
	l.files += o.files
	l.others += o.others
	for _, name := range o.bad {
		if !slices.Contains(l.bad, name) { // copies of a file have one
			l.bad = append(l.bad, name)
		}
	}
	l.skipped, l.other = append(l.skipped, o.skipped...), append(l.other, o.other...)
}

// err returns an error if records were left. r is the result of the replay.
func (l *left) err(r *bulkload.Result) error {
	var errs []error
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			errs = append(errs, fmt.Errorf("%w: %s %s", bulkload.ErrLeft, l.of(n, r.Read), fmt.Sprintf(format, args...)))
		}
	}
	if l.files > 0 { // of a file in which no record is corrected, all records are bad
		add(r.Quarantined, "are still bad: correct their lines in %s, and replay them", bulkload.Few(l.bad))
	}
	add(r.Skipped, "are skipped: %s: their lines stay in %s: correct the text in \"raw\" or the job, restore dropped days with bulkload undrop, or remove the lines to give up the records",
		skips(r), bulkload.Few(l.skipped))
	add(int64(l.others), "are in the table with another text, which was not changed: their lines stay in %s: remove the lines if the table is right; otherwise correct the log, and load the logs into a new table",
		bulkload.Few(l.other))
	return bulkload.Joined(errs)
}

// of returns how many of the replayed records are n.
func (l *left) of(n, read int64) string {
	all := fmt.Sprintf("%d of %d records", n, read)
	if l.files < 2 {
		return all
	}
	return all + " in " + english.Plural(l.files, "file", "")
}

// skips returns why records are skipped.
func skips(r *bulkload.Result) string {
	why := r.Skips.String()
	if texts := r.Unmapped.Describe(r.Skips.Unknown); texts != "" {
		why += ": " + texts
	}
	return why
}
