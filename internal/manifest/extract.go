package manifest

import "usertrail/internal/behaviour"

// An Extract is one answer: what was asked of which table, and its parts.
type Extract struct {
	Version  int               `json:"version"`
	Table    string            `json:"table"`
	Question Question          `json:"question"`
	Fields   []behaviour.Field `json:"fields"` // the columns after the fixed ones
	Users    int64             `json:"users"`  // asked
	Found    int64             `json:"found"`
	Active   int64             `json:"active"`
	Events   int64             `json:"events"`
	Parts    []TrailPart       `json:"parts"`
}

func (e *Extract) version() int { return e.Version }

// A Question decides an answer.
type Question struct {
	Span   behaviour.Span `json:"span"`
	Types  []string       `json:"types"`
	Active string         `json:"active"`
	Users  string         `json:"users"`  // all, or the digest of the list's distinct IDs
	Format string         `json:"format"` // of the parts
}

// A TrailPart is one trail file.
type TrailPart struct {
	Name   string `json:"name"`
	Users  int64  `json:"users"`
	Events int64  `json:"events"`
	Size   int64  `json:"size"`
	Sum    string `json:"xxh64"` // of its bytes
}
