package manifest

import "usertrail/internal/behaviour"

// A Plan is a load that was cut into pieces, as long as they are not committed. Which
// pieces there are stands in their lines alone.
type Plan struct {
	Version int           `json:"version"`
	ID      string        `json:"plan"`
	Pieces  int           `json:"pieces"`
	Inputs  []PlannedFile `json:"inputs"` // of all pieces
	LeftOut []LeftOut     `json:"left_out,omitempty"`
}

func (p *Plan) version() int { return p.Version }

// A LeftOut is a delivered file that a plan was asked for, and of which nothing was loaded.
type LeftOut struct {
	Path   string `json:"path"` // below the logs' root
	Part   *Part  `json:"part,omitempty"`
	Error  string `json:"error"`
	TooBad bool   `json:"too_bad,omitempty"` // it has more bad records than its job allows
}

// A PlannedFile is a delivered file, and what of it is to be loaded.
type PlannedFile struct {
	Path   string `json:"path"`   // below the logs' root
	Number uint32 `json:"number"` // which no other file may get meanwhile
	Part   *Part  `json:"part,omitempty"`
	Size   int64  `json:"size,omitempty"` // in bytes; 0 where an older version wrote it
}

// HeldBy says whether in, a file of a load, has all of f. A file without records that had its
// name has nothing of it.
func (f *PlannedFile) HeldBy(in *Input) bool {
	return in.Path == f.Path && in.Offsets == nil && in.Part.Covers(f.Part) && (in.Read > 0 || in.Size == f.Size)
}

// A Report is what came of one piece of a plan. It is written when all that it names
// is there, and names nothing that another piece does.
type Report struct {
	Version int       `json:"version"`
	Plan    string    `json:"plan"`
	Piece   int       `json:"piece"`
	Inputs  []Outcome `json:"inputs"`
	Days    []Day     `json:"days"`
	Regions []Region  `json:"regions"` // of the table when the piece was done
	Files   []File    `json:"files"`   // of no load yet
	// Seen is how many loads the table had when it was searched for records that
	// repeat; 0 where it was not.
	Seen int `json:"seen,omitempty"`
	// Schema is the one that the cells were made by; nil of a report that was written before
	// reports told it.
	Schema *behaviour.Schema `json:"schema,omitempty"`
}

func (r *Report) version() int { return r.Version }

// A Range is a stretch of a delivered file, in bytes. Those of a file follow each other.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"` // the first that is not in it
}

// An Outcome is a delivered file of a piece, as a ledger will tell of it, or why
// nothing of it is to be loaded. That of a range has the range's counts and digest; the
// digests of the whole file are an Outcome of their own, without counts.
type Outcome struct {
	Input
	Range  *Range   `json:"range,omitempty"`
	Lines  int64    `json:"lines,omitempty"`  // that end in the range
	Ranges []string `json:"ranges,omitempty"` // digests of all ranges of the file
	Error  string   `json:"error,omitempty"`
	TooBad bool     `json:"too_bad,omitempty"` // it has more bad records than its job allows
	Bad    string   `json:"bad,omitempty"`     // the file of its bad records, from the plans' folder
}
