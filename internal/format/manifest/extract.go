package manifest

import (
	"fmt"

	"usertrail/internal/behaviour"
)

// An Extract is the manifest of one result: the query, its table, and the parts.
type Extract struct {
	Version int    `json:"version"`
	Table   string `json:"table"`
	Zone    string `json:"zone,omitempty"` // IANA name; a behaviour's date is its local date here
	// TableVersion is the version of the table when the query ran. It is empty if nothing can
	// show that the table has changed. Unrolled is set if the query ran without the rolls.
	TableVersion string            `json:"table_version,omitempty"`
	Unrolled     bool              `json:"unrolled,omitempty"`
	Plan         string            `json:"plan,omitempty"` // the plan that cut the query into pieces, whose ends are ends of parts
	Query        Query             `json:"question"`
	Sample       *Sample           `json:"sample,omitempty"`  // how the users were chosen; nil if no sample chose them
	Columns      []behaviour.Field `json:"columns,omitempty"` // all columns; the one that partitions the result is not in its files
	Fields       []behaviour.Field `json:"fields"`            // the columns that are fields of behaviours
	Users        int64             `json:"users"`             // asked
	Found        int64             `json:"found"`
	NotFound     int64             `json:"not_found,omitempty"` // IDs of a list without a user; the result names them
	NotFoundFile *NamesFile        `json:"not_found_file,omitempty"`
	Active       int64             `json:"active"`
	Kept         int64             `json:"kept"` // users whose trails the result has
	Sequence     []Step            `json:"sequence,omitempty"`
	Events       int64             `json:"events"`
	Cost         *Cost             `json:"cost,omitempty"`
	Parts        []TrailPart       `json:"parts"`
	// Appended lists the extracts of a result that extract --append made, in order of their dates.
	// It is empty if one extract made the result. Otherwise the counts of users are sums: a user counts
	// once for each extract. The span of Query reaches from the first date to the last one.
	Appended []Appended `json:"appended,omitempty"`
}

func (e *Extract) version() int { return e.Version }

// A Sample is a number of users who are chosen at random.
type Sample struct {
	Users int            `json:"users"`
	Seed  uint64         `json:"seed"`
	Span  behaviour.Span `json:"span"` // the users are active in it
}

// String returns the value of --users.
func (s *Sample) String() string { return fmt.Sprintf("sample:%d:%d", s.Users, s.Seed) }

// A Query holds the flags that determine a result.
type Query struct {
	Span   behaviour.Span `json:"span"`
	Types  []string       `json:"types"`
	Active string         `json:"active"`
	Users  string         `json:"users"`  // all, or the digest of the list's distinct IDs
	Format string         `json:"format"` // of the parts

	Shape       string `json:"shape,omitempty"`        // wide: one row a user; else one a behaviour
	PartitionBy string `json:"partition_by,omitempty"` // the column whose values name the directories
	Times       string `json:"times,omitempty"`        // local: also local times; else only UTC
	Excel       bool   `json:"excel,omitempty"`        // csv is written for Excel

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

// A Step is a step of a sequence, and the number of users that reached it.
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

// A NamesFile is a file of user IDs, one a line. Results of older versions have a file of IDs
// that no manifest names.
type NamesFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  string `json:"xxh64"` // of its bytes
}

// A Cost holds the estimate of a query before any row was read, and the actual amount. Neither
// depends on the number of workers or on how often the query was restarted.
type Cost struct {
	Estimate Amount `json:"estimate"`
	Outcome  Amount `json:"outcome"`
}

// An Amount counts the data that a result is made from. In an estimate, Users counts the users
// that may be active. In an outcome, Users counts the active users.
type Amount struct {
	Users      int64 `json:"users"`
	Rows       int64 `json:"rows"`       // of these users and of the behaviours that were read
	Behaviours int64 `json:"behaviours"` // in these rows
	Cells      int64 `json:"cells"`      // of the fields that were read
}
