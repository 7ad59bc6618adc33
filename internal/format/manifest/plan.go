package manifest

import "usertrail/internal/behaviour"

// A Plan is a load that was cut into pieces that are not committed. Only the lines of the
// pieces file list the pieces.
type Plan struct {
	Version int           `json:"version"`
	ID      string        `json:"plan"`
	Pieces  int           `json:"pieces"`
	Inputs  []PlannedFile `json:"inputs"` // of all pieces
	LeftOut []LeftOut     `json:"left_out,omitempty"`
	// NextLoad is the number of the first load after the plan; 0 if an older version wrote the plan.
	NextLoad int `json:"next_load,omitempty"`
	// Texts has the Texts of the parts while the file is written or read.
	Texts TextList `json:"texts,omitempty"`
}

func (p *Plan) version() int { return p.Version }

// A LeftOut is a delivered file that a plan or a load requested, and from which no record was
// loaded. It may also be a link in the place of a folder of such files.
type LeftOut struct {
	Path    string `json:"path"`           // below the logs' root
	File    string `json:"file,omitempty"` // the whole path. Files of older versions do not have it
	Part    *Part  `json:"part,omitempty"`
	Error   string `json:"error"`
	TooBad  bool   `json:"too_bad,omitempty"` // it has more bad records than its job allows
	Growing bool   `json:"growing,omitempty"` // it may still be written. Files of older versions do not have it
	Refused bool   `json:"refused,omitempty"` // its name is not valid UTF-8. Files of older versions do not have it
}

// A PlannedFile is a delivered file and the part of it to load.
type PlannedFile struct {
	Path   string `json:"path"`   // below the logs' root
	Number uint32 `json:"number"` // which no other file may get meanwhile
	Part   *Part  `json:"part,omitempty"`
	Size   int64  `json:"size,omitempty"` // in bytes; 0 where an older version wrote it
	// SkippedBy and CutBy are the skip condition of the plan's job and the job's CutBy.
	SkippedBy string `json:"skipped_by,omitempty"`
	CutBy     string `json:"cut_by,omitempty"`
}

// HeldBy reports whether in, a file of a load, holds all of f. An input without records holds f
// only if both have the same size. An input whose records the job skipped holds nothing: another job may
// find records in it.
func (f *PlannedFile) HeldBy(in *Input) bool {
	if in.BroughtNone() && in.Skips.Unknown+in.Skips.WithoutUser+in.Skips.Condition > 0 {
		return false
	}
	return in.Path == f.Path && in.Offsets == nil && in.loadedAll(f.SkippedBy, f.CutBy) && in.Part.Covers(f.Part) && (in.Read > 0 || in.Size == f.Size)
}

// A Report is the result of one piece of a plan. It is written after every file that it names
// exists. It names no file that another piece names.
type Report struct {
	Version int       `json:"version"`
	Plan    string    `json:"plan"`
	Piece   int       `json:"piece"`
	Inputs  []Outcome `json:"inputs"`
	Days    []Day     `json:"days"`
	NoValue *NoValue  `json:"no_value,omitempty"` // as in a Load
	Regions []Region  `json:"regions"`            // of the table when the piece was done
	Files   []File    `json:"files"`              // of no load yet
	// Seen is the number of loads of the table when it was searched for duplicate records; 0 if
	// it was not searched.
	Seen int `json:"seen,omitempty"`
	// Texts has the Texts of the parts while the file is written or read.
	Texts TextList `json:"texts,omitempty"`
	// Schema is the schema by which the cells were made; nil if an older version wrote the
	// report.
	Schema *behaviour.Schema `json:"schema,omitempty"`
}

func (r *Report) version() int { return r.Version }

// A Range is a part of a delivered file, in bytes. The ranges of a file are adjacent.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"` // the first that is not in it
}

// An Outcome is a delivered file of a piece, as it appears in a ledger, or the reason why
// nothing of it must be loaded. An Outcome of a range has the counts and digest of the range. A
// separate Outcome, without counts, has the digests of the whole file.
type Outcome struct {
	Input
	Range  *Range   `json:"range,omitempty"`
	Lines  int64    `json:"lines,omitempty"`  // that end in the range
	Ranges []string `json:"ranges,omitempty"` // digests of all ranges of the file
	Error  string   `json:"error,omitempty"`
	TooBad bool     `json:"too_bad,omitempty"` // it has more bad records than its job allows
	Bad    string   `json:"bad,omitempty"`     // the file of its bad records, from the plans' folder
	// BadSize, in bytes, and BadSum are the size and the xxh64 of that file; both are empty if an
	// older version wrote the report.
	BadSize int64  `json:"bad_size,omitempty"`
	BadSum  string `json:"bad_xxh64,omitempty"`
}
