package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/split"
	"usertrail/internal/tally"
)

// TableName is the name of a Table in the directory of its table.
const TableName = "manifest.json"

// A Table describes the cells that loads wrote to a table. For a live table, Address is the
// address of the table, the server has the splits, and the files are only rolls.
type Table struct {
	Version     int               `json:"version"`
	Address     string            `json:"address,omitempty"`
	Cluster     string            `json:"cluster,omitempty"` // ID of a live table's HBase cluster; empty is not known
	Layout      string            `json:"layout"`
	Family      string            `json:"family"`
	Compression string            `json:"compression,omitempty"`
	Schema      *behaviour.Schema `json:"schema"`
	Splits      []Key             `json:"splits"` // first rows of all regions but the first
	// Alone is set for a live table that was empty when its first load began, if no job
	// mentions other writers. Loads wrote every cell of the table.
	Alone bool `json:"alone,omitempty"`
	// Rewritten counts how often files were replaced by files with the same rows. It is the
	// last number used in the names of the new files.
	Rewritten int `json:"rewritten,omitempty"`
	// RewrittenSHA256 is a digest of these replacements: see SetRewritten. Tables whose files older releases
	// replaced last do not have it.
	RewrittenSHA256 string `json:"rewritten_sha256,omitempty"`
	// DroppedBefore is the first date whose rows remain; nil if nothing was dropped. Dropped
	// has the cells that were dropped, by the table's regions.
	DroppedBefore *behaviour.Date `json:"dropped_before,omitempty"`
	Dropped       []Region        `json:"dropped,omitempty"`
	// Retired is set if the last replacement of files kept the files that it replaced: until they are
	// removed, retired.json lists them.
	Retired bool      `json:"retired,omitempty"`
	Files   []File    `json:"files"`
	Loads   []LoadRef `json:"loads"`
}

// A File is one HFile: the rows of one region from one load, or from several merged loads.
// Cells that were put have only a roll, which covers all regions, and no Name.
type File struct {
	Name    string         `json:"name,omitempty"` // below the table's directory
	Roll    string         `json:"roll"`
	First   Key            `json:"first"` // its first and last row; of a roll alone, key of a user
	Last    Key            `json:"last"`
	Span    behaviour.Span `json:"span"` // dates of its rows
	Users   int64          `json:"users"`
	Records int64          `json:"records"`
	Tally   tally.Tally    `json:"tally"`
	Size    int64          `json:"size"`
	Sum     string         `json:"xxh64"` // of its bytes
	RollSum string         `json:"roll_xxh64"`
	// RollSize is the size of the roll in bytes; 0 if an older version wrote it.
	RollSize int64 `json:"roll_size,omitempty"`
	Load     int   `json:"load"`
	// Apart is set if an earlier load added other records of the same delivered files, behaviours
	// and dates. Such a file is never merged, because only its name distinguishes its records
	// from the other records.
	Apart bool `json:"apart,omitempty"`
	// Loads are all loads that wrote rows of a merged file, in ascending order. Load is the
	// last of them.
	Loads []int `json:"loads,omitempty"`
}

// A LoadRef names the ledger of a load.
type LoadRef struct {
	Number  int         `json:"number"`
	Name    string      `json:"name"`
	Records int64       `json:"records"`
	Tally   tally.Tally `json:"tally"` // of its cells
	// Size, in bytes, and SHA256 are the ledger's; both are empty if an older version wrote the
	// ledger.
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // its checksum
	// Delivered are the Delivered of the load; nil if an older version committed the load.
	Delivered []DaysOf `json:"delivered,omitzero"`
	// Files is the number of delivered files in the ledger, and Days the number of its days. Older versions do not write them.
	Files int64 `json:"files,omitempty"`
	Days  int64 `json:"days,omitempty"`
	// Rereads is Load.Rereads.
	Rereads bool `json:"rereads,omitempty"`
}

// Same reports whether r and o name the same ledger.
func (r LoadRef) Same(o LoadRef) bool {
	return r.Number == o.Number && r.Name == o.Name && r.Records == o.Records && r.Tally == o.Tally && r.Size == o.Size && r.SHA256 == o.SHA256
}

func (t *Table) version() int { return t.Version }

// SetSchema sets the schema and the version.
func (t *Table) SetSchema(s *behaviour.Schema) {
	t.Schema = s
	t.SetVersion()
}

// SetVersion sets the lowest version that can have the schema and the loads of t.
func (t *Table) SetVersion() {
	t.Version = Version
	if t.Schema != nil && !t.Schema.Words() {
		t.Version = NamesVersion
	}
	if slices.ContainsFunc(t.Loads, func(l LoadRef) bool { return l.Rereads }) {
		t.Version = RereadVersion
	}
}

// Points returns the table's split points.
func (t *Table) Points() split.Points { return PointsOf(t.Splits) }

// Validate returns an error if t is not a valid table.
func (t *Table) Validate() error {
	if t.Schema == nil {
		return fmt.Errorf("%w: no schema", ErrDamaged)
	}
	if err := t.Schema.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := t.Points().Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// Next returns the number of the next load.
func (t *Table) Next() int {
	if n := len(t.Loads); n > 0 {
		return t.Loads[n-1].Number + 1
	}
	return 1
}

// Total returns the tally of all cells that loads put into the table.
func (t *Table) Total() tally.Tally {
	var sum tally.Tally
	for _, l := range t.Loads {
		sum.Add(l.Tally)
	}
	return sum
}

// State returns a string that changes when a load commits or days are dropped. A merge of files does not
// change it, because readers see the same rows.
func (t *Table) State() string {
	s := t.loaded(len(t.Loads))
	if t.DroppedBefore != nil {
		s += "/" + t.DroppedBefore.String()
	}
	return s
}

// loaded returns State for the first n loads of t, if no day was dropped.
func (t *Table) loaded(n int) string {
	upTo := Table{Loads: t.Loads[:n]}
	return fmt.Sprintf("%d/%s", n, upTo.Total().Digest)
}

// IsState reports whether a version is a State of a table. The version of a snapshot is not.
func IsState(version string) bool {
	count, _, ok := strings.Cut(version, "/")
	_, err := strconv.Atoi(count)
	return ok && err == nil
}

// LoadsAt returns the number of loads that t had when State returned state. ok is false if t never had
// this state, because it was made again.
func (t *Table) LoadsAt(state string) (n int, ok bool) {
	count, _, _ := strings.Cut(state, "/")
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > len(t.Loads) {
		return 0, false
	}
	was := t.loaded(n)
	return n, state == was || strings.HasPrefix(state, was+"/")
}

// DroppedAt returns the drop that a table had when State returned state: nil if it had none.
func DroppedAt(state string) *behaviour.Date {
	parts := strings.Split(state, "/")
	if len(parts) != 3 {
		return nil
	}
	d, err := behaviour.ParseDate(parts[2])
	if err != nil {
		return nil
	}
	return &d
}

// Of returns t with the files of one load and without loads.
func (t *Table) Of(load int) *Table {
	out := *t
	out.Files, out.Loads = []File{}, []LoadRef{}
	for i := range t.Files {
		if t.Files[i].Load == load {
			out.Files = append(out.Files, t.Files[i])
		}
	}
	return &out
}

// RefOf returns the manifest's entry for a load whose ledger is called name.
func RefOf(l *Load, name string) LoadRef {
	ref := LoadRef{Number: l.Number, Name: name, Delivered: l.Delivered(), Files: int64(len(l.Inputs)), Days: int64(len(l.Days)), Rereads: l.Rereads()}
	for _, in := range l.Inputs {
		ref.Records += in.Loaded
	}
	for _, d := range l.Days {
		ref.Tally.Add(d.Tally)
	}
	return ref
}
