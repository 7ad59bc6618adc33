package manifest

import "usertrail/internal/tally"

// A Handover is a load whose files are being handed to HBase's regions: what is
// left to do when whoever did it has died. It is written before the first region
// is asked, and removed once the ledger is there.
type Handover struct {
	Version int      `json:"version"`
	Load    *Load    `json:"load"`
	Table   *Table   `json:"table"`   // the manifest as it will be, once all is in
	Staging string   `json:"staging"` // the directory of the files
	Tokens  []string `json:"tokens"`  // HBase's own staging directories, one for each attempt
	Files   []Staged `json:"files"`
}

func (h *Handover) version() int { return h.Version }

// A Staged file is an HFile that some region is to take in. Its first cell's row,
// qualifier and time tell whether it has.
type Staged struct {
	Name      string      `json:"name"` // below the staging directory, its family's folder first
	First     Key         `json:"first"`
	Last      Key         `json:"last"` // its last row
	Qualifier Key         `json:"qualifier"`
	Time      int64       `json:"time"`
	Tally     tally.Tally `json:"tally"`
}
