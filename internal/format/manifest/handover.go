package manifest

import "usertrail/internal/tally"

// A Handover is a load whose files are being handed to HBase's regions. If the process dies,
// the next run finishes the load from it. It is written before the first request to a region,
// and removed once the ledger exists.
type Handover struct {
	Version int      `json:"version"`
	Load    *Load    `json:"load"`
	Table   *Table   `json:"table"`   // the manifest after all files are loaded
	Staging string   `json:"staging"` // the directory of the files
	Tokens  []string `json:"tokens"`  // HBase's own staging directories, one for each attempt
	Files   []Staged `json:"files"`
}

func (h *Handover) version() int { return h.Version }

// A Staged is an HFile that a region must load. The row, qualifier and time of its first cell
// show whether the region has loaded it.
type Staged struct {
	Name      string      `json:"name"` // below the staging directory, its family's folder first
	First     Key         `json:"first"`
	Last      Key         `json:"last"` // its last row
	Qualifier Key         `json:"qualifier"`
	Time      int64       `json:"time"`
	Tally     tally.Tally `json:"tally"`
}
