// Package output writes judged trails as the files of a result.
//
//	Cutter      divides the trails into parts; a user is complete in one part
//	Write       sorts each part by user ID, and writes its file
//	Partition   writes the parts of a result in directories: a file for each day or behaviour
//	Sink        receives the files: a directory, or a stream
//
// Only the trails, in order of the users' keys, determine the parts.
package output

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
)

// A Sink receives the files of parts.
type Sink interface {
	// Create begins a file of a part.
	Create(ctx context.Context, name string) (dfs.Pending, error)
	// Done records that a part is complete. Many goroutines may call it at once.
	Done(ctx context.Context, r Record) error
	// All returns the parts that are complete, in order.
	All() []Record
}

// A Record describes a part that is complete.
type Record struct {
	Files  []manifest.TrailPart `json:"files"`
	Number int                  `json:"number"`
	Users  int64                `json:"users"`
	Events int64                `json:"events"`
	Last   manifest.Key         `json:"last"`            // each user up to it is in this part or an earlier one, or is not in the result
	Counts judge.Counts         `json:"counts"`          // of all users that were read, up to that one
	Found  []byte               `json:"found,omitempty"` // users found by their rows since the part before
}

// Records are the parts that are complete.
type Records struct {
	mu    sync.Mutex
	parts []Record
}

// Add adds a part. Many goroutines may call it at once.
func (f *Records) Add(r Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts = append(f.parts, r)
}

// All returns the parts in order, once no more are added.
func (f *Records) All() []Record {
	slices.SortFunc(f.parts, func(a, b Record) int { return cmp.Compare(a.Number, b.Number) })
	return f.parts
}

// Write writes parts, one after the other, and reports its progress to at.
func Write(ctx context.Context, q *query.Query, sizes memory.Sizes, out Sink, parts <-chan *Part, at *progress.Worker) error {
	w := NewWriter(q, sizes)
	return each(q, parts, at, func(p *Part) error { return w.Write(ctx, out, p) })
}

// Partition divides parts into directories.
func Partition(ctx context.Context, cfg *Partitions, parts <-chan *Part, at *progress.Worker) (err error) {
	p, err := newPartitioner(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	return each(cfg.Query, parts, at, func(cut *Part) error { return p.take(ctx, cut) })
}

// each calls take with each of parts.
func each(q *query.Query, parts <-chan *Part, at *progress.Worker, take func(*Part) error) error {
	defer at.End()
	at.At("waiting for a part")
	for p := range parts {
		at.At("%s: %s, %s", q.Output.PartName(p.number), english.Plural(len(p.users), "user", ""), english.Plural(int(p.events), "event", ""))
		if err := take(p); err != nil {
			return err
		}
		at.At("waiting for a part")
	}
	return nil
}

// Fill adds counts and parts to the manifest of a result.
func Fill(m *manifest.Extract, c *judge.Counts, parts []Record) {
	m.Found, m.Active = c.Found, c.Active
	if m.Query.Users == userlist.Everyone {
		m.Users = c.Found
	}
	c.Reach(len(m.Sequence))
	for i := range m.Sequence {
		m.Sequence[i].Users = c.Steps[i]
	}
	for _, p := range parts {
		m.Kept += p.Users
		m.Events += p.Events
		m.Parts = append(m.Parts, p.Files...)
	}
}
