package bulkload

import (
	"fmt"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/table"
)

// A Result describes a load. The counts are sums over the files that were loaded. Failed has the
// other files.
type Result struct {
	manifest.Counts
	// Unmapped has the skipped records whose text names no behaviour of the job. For each file, it has
	// the texts in the ledger.
	Unmapped manifest.Unmapped `json:"unmapped,omitzero"`
	Cells    int64             `json:"cells"`
	Files    int               `json:"files"`           // delivered files that were loaded
	Already  int               `json:"already"`         // delivered files that had been loaded before
	Missing  int               `json:"missing"`         // days and behaviours without a file
	Older    int64             `json:"older,omitempty"` // skipped records of days that were dropped
	Bytes    int64             `json:"bytes"`           // of the delivered files
	HFiles   int               `json:"hfiles"`
	Loads    int               `json:"loads"`
	Finished int               `json:"finished,omitempty"` // of them, those that a killed load had all but done
	Choice
	table.Held

	// NoFile describes the first Shown of the days and behaviours without a file.
	NoFile []string `json:"-"`

	// Removed and Unchanged describe a replay: the lines of quarantine files whose records are in the
	// table, and the files in which no record was corrected.
	Removed   int64 `json:"removed,omitempty"`
	Unchanged int   `json:"unchanged,omitempty"`
	// OtherJobs is the number of quarantine files of a folder without a record of a file of the job. A record of OtherJobsCorrected of
	// them may be corrected.
	OtherJobs          int `json:"other_jobs,omitempty"`
	OtherJobsCorrected int `json:"other_jobs_corrected,omitempty"`

	// Reread describes a reread; nil for other commands.
	Reread *Reread `json:"reread,omitempty"`

	NotRead
	// NoValue lists fields of the job without a value on some days. SetNoValue sets it.
	NoValue []NoValue `json:"fields_without_value,omitempty"`
	// Values gets the loads of the run. It is nil if their fields are not reported.
	Values *NoValues `json:"-"`

	Failed []Failed `json:"failed,omitempty"`
	// Days and Calendar describe the days of a load of several days: how many ended in
	// each way, and how each day ended.
	Days     *DayCounts `json:"days,omitempty"`
	Calendar []DayLine  `json:"-"`
}

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	c := r.Counts.Counted()
	c[outcome.Cells] = float64(r.Cells)
	c[outcome.Files] = float64(r.Files)
	c[outcome.Already] = float64(r.Already)
	c[outcome.Missing] = float64(r.Missing)
	c[outcome.Bytes] = float64(r.Bytes)
	c[outcome.HFiles] = float64(r.HFiles)
	c.SetFailed(len(r.Failed))
	return c
}

// Add adds the result of a load of another day. The days of the results stay apart.
func (r *Result) Add(o Result) {
	r.Counts.Add(o.Counts)
	r.Unmapped.Merge(&o.Unmapped)
	r.Cells += o.Cells
	r.Files += o.Files
	r.Already += o.Already
	r.Missing += o.Missing
	if room := Shown - len(r.NoFile); room > 0 {
		r.NoFile = append(r.NoFile, o.NoFile[:min(len(o.NoFile), room)]...)
	}
	r.Older += o.Older
	r.Bytes += o.Bytes
	r.HFiles += o.HFiles
	r.Removed += o.Removed
	r.Loads += o.Loads
	r.Finished += o.Finished
	r.Choice, r.Held = o.Choice, o.Held
	r.NotRead.Add(o.NotRead)
	for _, n := range o.NoValue {
		r.addNoValue(n)
	}
	r.Failed = append(r.Failed, o.Failed...)
}

// A Reread counts the records of the behaviours and dates for which files were read again. Each record of a file is counted once.
type Reread struct {
	Records      int64 `json:"records"`       // they got a value
	WithoutValue int64 `json:"without_value"` // they have no value of the fields
	HadValues    int64 `json:"had_values"`    // the table had their values
	NotThere     int64 `json:"not_there"`     // the table has no such record
	Replayed     int64 `json:"replayed"`      // they were corrected, so the values in the file may be wrong
	Bad          int64 `json:"bad"`
	Missed       int64 `json:"missed"` // records of the table that lack a value, and that the job does not read in the file
}

// Add adds o to r.
func (r *Reread) Add(o Reread) {
	r.Records += o.Records
	r.WithoutValue += o.WithoutValue
	r.HadValues += o.HadValues
	r.NotThere += o.NotThere
	r.Replayed += o.Replayed
	r.Bad += o.Bad
	r.Missed += o.Missed
}

// OfOtherJobs describes OtherJobs and the next step.
func (r *Result) OfOtherJobs() string {
	said := english.Plural(r.OtherJobs, "file", "") + " of other jobs"
	if r.OtherJobsCorrected > 0 {
		said += fmt.Sprintf("; %d may have corrected records: replay them with the job that loaded them", r.OtherJobsCorrected)
	}
	return said
}

// AddLoad adds a load that is part of the table.
func (r *Result) AddLoad(of *manifest.Load) {
	r.AddInputs(of.Inputs)
	r.Files += len(of.Inputs)
	r.Loads++
	for _, d := range of.Days {
		r.Cells += d.Tally.Cells
	}
	if r.Values != nil {
		r.Values.add(of)
	}
}

// AddInputs adds the counts of delivered files.
func (r *Result) AddInputs(inputs []manifest.Input) {
	for i := range inputs {
		r.Counts.Add(inputs[i].Counts)
		r.Unmapped.AddList(inputs[i].Unmapped)
	}
}

// HFiles returns the number of HFiles of a load. Files without a name have only a roll.
func HFiles(files []manifest.File) int {
	n := 0
	for _, f := range files {
		if f.Name != "" {
			n++
		}
	}
	return n
}

// CheckLaw checks that the counts add up, for each delivered file and for all of them.
func CheckLaw(inputs []manifest.Input) error {
	var sum manifest.Counts
	for i := range inputs {
		in := &inputs[i]
		if err := in.Check(); err != nil {
			return fmt.Errorf("%s: %w", in.Path, err)
		}
		sum.Add(in.Counts)
	}
	return sum.Check()
}

// Failed is a file that was not loaded.
type Failed struct {
	Path  string `json:"path"` // with the root of the logs, as in Error; of a replay, the quarantine file
	Error string `json:"error"`
}

// A DayLine describes the result for the files of one day. Counts counts the records of the
// files that this load loaded. Files without a date in their path belong to no day.
type DayLine struct {
	Date    behaviour.Date
	Files   int // delivered files of the requested behaviours
	Missing int // behaviours without a file
	manifest.Counts
	Ended DayEnd
}

// A DayEnd is how a day ended.
type DayEnd string

// How a day ends.
const (
	DayLoaded  DayEnd = "loaded"  // all of its files are in, and some were not before
	DayAlready DayEnd = "already" // all of its files were in before
	DayDropped DayEnd = "dropped" // it was dropped after its files were loaded, or all good records of one of its files are of dropped days; no file is new
	DayEmpty   DayEnd = "empty"   // it has no file
	DayFailed  DayEnd = "failed"  // nothing of one of its files was loaded, at least
	DayLeft    DayEnd = "left"    // the load did not reach all of its files: the same command does
)

// DayCounts holds the number of days for each DayEnd.
type DayCounts struct {
	Loaded  int `json:"loaded"`
	Already int `json:"already"`
	Dropped int `json:"dropped,omitempty"`
	Empty   int `json:"empty"`
	Failed  int `json:"failed"`
	Left    int `json:"left"`
}

// Add counts a day.
func (n *DayCounts) Add(e DayEnd) {
	switch e {
	case DayLoaded:
		n.Loaded++
	case DayAlready:
		n.Already++
	case DayDropped:
		n.Dropped++
	case DayEmpty:
		n.Empty++
	case DayFailed:
		n.Failed++
	case DayLeft:
		n.Left++
	}
}
