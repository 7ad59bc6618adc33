package replay

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// A history holds the entries of the replayed files and their copies in the ledgers. The job of the replay reads them.
type history struct {
	job     *job.Job
	from    *corrected
	known   *ledger.Index
	search  *delivered.Search
	by      manifest.Selection
	entries map[string][]entry // by SHA-256 of the files; the oldest is first
}

// An entry is a delivered file in a load.
type entry struct {
	*manifest.Input
	load *manifest.Load
}

// An identity identifies a quarantined record, together with its offset. Records with the same identity and offset are the
// same record. The path names the behaviour, or a column does. If a column named it for a load of the bytes, all files of
// the bytes had the same records for that load, and kind is -1.
type identity struct {
	sha  string
	kind int // of the job; -1 if a column names it
}

// history returns the history of the files of the quarantine file.
func (p *replay) history() (*history, error) {
	every := behaviour.AllDays
	search, err := delivered.NewSearch(p.cfg.FS, p.cfg.Job, every, nil)
	if err != nil {
		return nil, err
	}
	h := &history{job: p.cfg.Job, from: p.from, known: p.known, search: search, by: delivered.SelectionOf(p.cfg.Job), entries: map[string][]entry{}}
	for _, path := range p.from.paths {
		if in := p.known.File(path); in != nil {
			h.entries[in.SHA256] = nil
		}
	}
	for _, l := range p.known.Loads() {
		for i := range l.Inputs {
			in := &l.Inputs[i]
			if _, ok := h.entries[in.SHA256]; ok {
				h.entries[in.SHA256] = append(h.entries[in.SHA256], entry{in, l})
			}
		}
	}
	return h, nil
}

// identify returns the identity of the records of the file at path.
func (h *history) identify(path string) (identity, error) {
	old := h.known.File(path)
	if old == nil {
		return identity{}, h.from.foreign(path, "is not in the table: load it before its bad records are replayed")
	}
	in, ok := h.input(old)
	if !ok {
		return identity{}, h.from.ofOtherJob(path, false)
	}
	if h.byColumn(old.SHA256) {
		in.Kind = -1
	}
	return identity{old.SHA256, in.Kind}, nil
}

// byColumn reports whether a column named the behaviours of the bytes for a load that added records.
func (h *history) byColumn(sha string) bool {
	return slices.ContainsFunc(h.entries[sha], func(e entry) bool { return e.Behaviour == "" && e.SameAs == "" && e.Offsets == nil })
}

// matches reports whether the path of a delivered file is the job's.
func (h *history) matches(path string) bool {
	_, _, ok := h.job.Pattern.Match(h.job.Pattern.Root + "/" + path)
	return ok
}

// input returns a file of a load as a file of the job. It reports false if its path is not the job's.
func (h *history) input(old *manifest.Input) (job.Input, bool) {
	full := h.job.Pattern.Root + "/" + old.Path
	date, kind, ok := h.job.Pattern.Match(full)
	return job.Input{Path: full, Rel: old.Path, Date: date, Kind: kind, Size: old.Size, Modified: old.Modified}, ok
}

// oldest returns the oldest file with the bytes of the file at path whose path names the same behaviour for the job, and whose
// load added records: the day in its path is the day of the records. If no load added records, oldest returns the file at path.
func (h *history) oldest(path string) *manifest.Input {
	own := h.known.File(path)
	of, _ := h.input(own)
	for _, e := range h.entries[own.SHA256] {
		if in, ok := h.input(e.Input); ok && in.Kind == of.Kind && e.Loaded > 0 {
			return h.known.File(e.Path)
		}
	}
	return own
}

// remember fills f with the paths, numbers, reads and replays of its bytes.
func (f *file) remember(h *history) {
	holds := ledger.Content{SHA256: f.sha, Behaviour: f.Behaviour(f.job.Schema)}
	own, by := h.search.Part(f.Input), h.by.Of(holds.Behaviour)
	entries := h.entries[f.sha]
	loads := 0
	for _, e := range entries {
		if !slices.Contains(f.paths, e.Path) {
			f.paths = append(f.paths, e.Path)
		}
		if e.Offsets == nil {
			loads++
		}
		if !h.known.ContentOf(e.Input).Meets(holds) {
			continue
		}
		if !slices.Contains(f.numbers, e.Number) {
			f.numbers = append(f.numbers, e.Number)
		}
		if e.SameAs == "" && e.Offsets == nil {
			if r, ok := readOf(e, own, by); ok {
				f.reads = append(f.reads, r)
			}
		}
	}
	for i := range f.reads {
		f.reads[i].only = loads == 1
	}
	if h.byColumn(f.sha) {
		holds.Behaviour = "" // the replays of all files of the bytes added its records
	}
	f.done, f.doneAs = h.known.Replayed(holds), h.known.ReplayedTexts(holds)
}

// An earlierRead is the reading of a replayed file or of a copy by one load.
type earlierRead struct {
	ledger.Copy
	days   behaviour.Span // of the records that it may have added
	bad    map[int64]bool // offsets of the records that it quarantined
	listed bool           // bad has all of them
	only   bool           // no other load read these bytes, so it very likely quarantined the replayed records
	whole  bool           // all records except bad ones are in the table
	all    bool           // all records that it requested, except bad ones, are in the table, by this load or an earlier one
	alone  bool           // by this load, or it found that they are duplicates
}

// readOf returns how a load read a file, as the job of the replay sees it. own is the part of the file that the job requests. It reports
// false if the load added no record.
func readOf(e entry, own *manifest.Part, by manifest.Selection) (earlierRead, bool) {
	v := e.SeenBy(own, by)
	if v.None {
		return earlierRead{}, false
	}
	bad, listed := e.BadOffsets()
	r := earlierRead{Copy: ledger.CopyOf(e.Input), days: behaviour.NoDays, bad: map[int64]bool{}, listed: listed}
	r.Part = v.Part
	r.whole = listed && e.Skipped == 0
	r.all = listed && loadedAll(e.Input, by.TextsBy)
	r.alone = r.all && e.Skips.LoadedBefore == 0
	for _, o := range bad {
		r.bad[o] = true
	}
	for _, d := range e.load.Days {
		if e.Dates == nil || e.Dates.Has(d.Date) {
			r.days.AddDay(d.Date)
		}
	}
	return r, true
}

// loadedAll reports whether the ledger shows that a load skipped only records of other behaviours, and records
// that an earlier load had requested. If the jobs of the load and of the replay read the texts of behaviours in
// different ways, the behaviour of a skipped record is not known.
func loadedAll(in *manifest.Input, textsBy string) bool {
	return in.Skipped == 0 || in.TextsBy == textsBy && in.Skipped == in.Skips.OtherTypes+in.Skips.LoadedBefore
}

// mayHave reports whether the load may have added the record at an offset.
func (r *earlierRead) mayHave(offset int64) bool {
	if r.listed {
		return !r.bad[offset]
	}
	return !r.only
}

// Asked implements batch.Corrected.
func (f *file) Asked(d behaviour.Date, kind string, text *string) bool {
	return slices.ContainsFunc(f.reads, func(r earlierRead) bool { return r.Part.Has(d, kind, text) })
}

// Brought implements batch.Corrected. A load that skipped no record added the record, unless it found the record
// bad. Otherwise the first load that requested the record added it, unless it skipped the record or found it
// bad. Then a later load may have added it. If no ledger shows that a load added the record, Brought returns
// false, and the batch looks for the record in the table.
func (f *file) Brought(offset int64, d behaviour.Date, kind string, text *string) bool {
	first := true
	for i := range f.reads {
		r := &f.reads[i]
		if r.whole && !r.bad[offset] {
			return true
		}
		if !r.Has(d, kind, text) {
			continue
		}
		if (r.alone || first && r.all) && !r.bad[offset] {
			return true
		}
		first = false
	}
	return false
}
