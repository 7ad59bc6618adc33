package manifest

import "usertrail/internal/behaviour"

// An Extract is one answer: what was asked of which table, and its parts.
type Extract struct {
	Version int    `json:"version"`
	Table   string `json:"table"`
	Zone    string `json:"zone,omitempty"` // IANA name; a behaviour's date is its local date here
	// TableVersion is the table's when it was asked; empty where nothing tells that it
	// has changed. Unrolled is asked without the rolls.
	TableVersion string            `json:"table_version,omitempty"`
	Unrolled     bool              `json:"unrolled,omitempty"`
	Plan         string            `json:"plan,omitempty"` // that cut it into pieces, whose ends are ends of parts
	Question     Question          `json:"question"`
	Columns      []behaviour.Field `json:"columns,omitempty"` // all of them; the one that partitions the answer is not in its files
	Fields       []behaviour.Field `json:"fields"`            // those that are fields of behaviours
	Users        int64             `json:"users"`             // asked
	Found        int64             `json:"found"`
	NotFound     int64             `json:"not_found,omitempty"` // of a list; the result names them
	NotFoundFile *NamesFile        `json:"not_found_file,omitempty"`
	Active       int64             `json:"active"`
	Kept         int64             `json:"kept"` // users whose trails these are
	Sequence     []Step            `json:"sequence,omitempty"`
	Events       int64             `json:"events"`
	Cost         *Cost             `json:"cost,omitempty"`
	Parts        []TrailPart       `json:"parts"`
}

func (e *Extract) version() int { return e.Version }

// A Question decides an answer.
type Question struct {
	Span   behaviour.Span `json:"span"`
	Types  []string       `json:"types"`
	Active string         `json:"active"`
	Users  string         `json:"users"`  // all, or the digest of the list's distinct IDs
	Format string         `json:"format"` // of the parts

	Shape       string `json:"shape,omitempty"`        // wide: one row a user; else one a behaviour
	PartitionBy string `json:"partition_by,omitempty"` // the column whose values name the directories

	Where      string   `json:"where,omitempty"`
	WhereFirst bool     `json:"where_first,omitempty"`
	Having     string   `json:"having,omitempty"`
	Sequence   string   `json:"sequence,omitempty"`
	Without    []string `json:"without,omitempty"`
	Fields     []string `json:"fields,omitempty"`
	Hours      string   `json:"hours,omitempty"`
	Context    int      `json:"context,omitempty"`
	At         *int64   `json:"at,omitempty"` // µs since 1970-01-01 UTC
	Latest     int      `json:"latest,omitempty"`
}

// A Step is a step of a sequence, and how many users reached it.
type Step struct {
	Behaviour string `json:"behaviour"`
	Within    string `json:"within,omitempty"` // of the step before, such as 1h0m0s
	Users     int64  `json:"users"`
}

// A TrailPart is one trail file.
type TrailPart struct {
	Name   string `json:"name"`
	Users  int64  `json:"users"`
	Events int64  `json:"events"`
	Size   int64  `json:"size"`
	Sum    string `json:"xxh64"` // of its bytes
}

// A NamesFile is a file of user IDs, one a line. Results of older versions have one that no
// manifest names.
type NamesFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  string `json:"xxh64"` // of its bytes
}

// A Cost is what an answer was estimated to take before any row was read, and what it
// took. Neither depends on how many workers there were or on how often it was begun.
type Cost struct {
	Estimate Amount `json:"estimate"`
	Outcome  Amount `json:"outcome"`
}

// An Amount is what an answer is made from. Of an estimate the users are those who may
// be active, of an outcome those who are.
type Amount struct {
	Users      int64 `json:"users"`
	Rows       int64 `json:"rows"`       // of theirs, of the behaviours that were read
	Behaviours int64 `json:"behaviours"` // in these rows
	Cells      int64 `json:"cells"`      // of the fields that were read of them
}
