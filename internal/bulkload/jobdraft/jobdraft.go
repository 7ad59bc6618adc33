// Package jobdraft drafts a job file. It reads a sample of a folder of logs and guesses their
// format and content.
//
//	folder ── survey ──▶ files ── paths ──▶ pattern, behaviours
//	                       │
//	                       └── sample ──▶ format ──▶ columns ──▶ user, time, fields
//	                                                                 │
//	           trial: record reads the sample by the draft ◀── YAML ◀┘
//
// It is used before the first load. It reads parts of a few files, never whole large files, and
// writes nothing.
//
// A job has one format. If a folder has files of several formats or encodings, the draft
// describes the largest set of logs that one job can load, and lists the others.
//
// Promises:
//
//   - The same logs give the same draft.
//   - If the logs do not decide between guesses, Config.Ask is called, or the draft has a comment with
//     the word "unsure" next to it. If there is not even a guess, the key has no value. A job file must not
//     have such keys: reading the draft fails and names the key.
//   - The draft reports the number of records of the sample that it reads, as a load would
//     read them, and why it does not read the others.
package jobdraft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"usertrail/internal/format/job"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
)

// Defaults of Config.
const (
	DefaultFiles   = 4
	DefaultRecords = 1000
)

// A Config selects the logs, and how the draft will be used. A zero field means the default
// in its comment.
type Config struct {
	FS    dfs.FS
	Logs  string // a folder of logs, or one file
	Name  string // name of the job file: paths in the draft are relative to its folder
	Table string // the table's address; "trails" next to the job file
	Zone  string // zone of times without one; a guess

	Only    []string // patterns of the files to read, as for path.Match; all
	FirstID int      // the ID of the first behaviour; 1
	// Ask answers what the logs leave open. An empty answer means the question's default. If
	// Ask is nil, the draft has the default, and a comment. If Ask is given, no comment has the
	// word "unsure".
	Ask func(Question) (string, error)

	Files   int // number of files to read for each behaviour; DefaultFiles
	Records int // number of records to read of each file; DefaultRecords
}

// A Draft is a job file, as complete as the logs allow.
type Draft struct {
	Text string // YAML

	Summary
	// Problem is the error with which a load refuses the draft: keys to fill in.
	// It wraps job.ErrJob. It is nil if the draft is complete.
	Problem error
}

// A Summary describes the sample from which a draft was made.
type Summary struct {
	Files        int            `json:"files"`         // found
	SkippedFiles int            `json:"skipped_files"` // of these, those that the draft's paths do not name
	SampledFiles int            `json:"sampled_files"` // the number of these files of which records were read
	Behaviours   []string       `json:"behaviours"`    // their names
	Read         int64          `json:"records"`       // records of the sample, read by the draft
	Good         int64          `json:"good"`          // of these, those that would be loaded
	Skipped      int64          `json:"skipped"`       // records that the draft skips
	Bad          int64          `json:"bad"`           // and those that would be quarantined
	Reasons      map[string]int `json:"reasons,omitempty"`
	Unsure       []string       `json:"unsure"`             // comments for review, in order of the file, equal ones once
	FillIn       []string       `json:"fill_in"`            // keys that have no value yet
	LeftOut      []Left         `json:"left_out,omitempty"` // files that are no logs
	Others       []Other        `json:"others,omitempty"`   // files for jobs of their own
}

// Counted implements outcome.Result.
func (s Summary) Counted() outcome.Counts {
	return outcome.Counts{outcome.Files: float64(s.Files), outcome.Skipped: float64(s.Skipped), outcome.Records: float64(s.Read)}
}

// Make reads logs and drafts their job. If there are no logs, the error wraps job.ErrNoInput.
func Make(ctx context.Context, cfg Config) (*Draft, error) {
	if cfg.Files <= 0 {
		cfg.Files = DefaultFiles
	}
	if cfg.Records <= 0 {
		cfg.Records = DefaultRecords
	}
	if cfg.FirstID <= 0 {
		cfg.FirstID = 1
	}
	found, err := survey(ctx, cfg.FS, cfg.Logs, cfg.Only)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", job.ErrNoInput, err)
		}
		return nil, fmt.Errorf("draft: look at %s: %w", cfg.Logs, err)
	}
	if len(found.files) == 0 {
		return nil, fmt.Errorf("draft: %w: no file below %s that may hold logs: %s", job.ErrNoInput, cfg.Logs, found.why())
	}
	p := arrange(found.files)
	looked, err := look(ctx, cfg, p)
	if err != nil {
		return nil, err
	}
	if len(looked) == 0 {
		return nil, fmt.Errorf("draft: %w: all %d files below %s are empty", job.ErrNoInput, len(found.files), cfg.Logs)
	}
	g, err := guess(cfg, found, p, looked)
	if err != nil {
		return nil, err
	}
	return tryOut(ctx, cfg, g)
}
