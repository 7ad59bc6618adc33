package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"usertrail/internal/bulkload"
)

// errUnread ends an attempt to plan that needs delivered files to be read first. The load reads
// the files without the table's lock, and plans again.
var errUnread = errors.New("delivered files have to be read first")

// A glance is a delivered file as it was listed.
type glance struct {
	path     string
	size     int64
	modified time.Time
}

// seen holds the results of reading a delivered file.
type seen struct {
	sha  string  // digest
	cuts []int64 // where its ranges begin
}

// A reading asks for the digest or the ranges of a delivered file.
type reading struct {
	in   *input
	size int64 // of ranges; 0 asks for the digest
}

func glanceOf(in *input) glance { return glance{in.Path, in.Size, in.Modified} }

// see returns the known results for a file. They are empty if the file has not been read.
func (p *planner) see(in *input) *seen {
	if s := p.known[glanceOf(in)]; s != nil {
		return s
	}
	return new(seen)
}

// ask requests a reading of a file: its digest if size is 0, else its ranges of size bytes.
func (p *planner) ask(in *input, size int64) { p.unread = append(p.unread, reading{in, size}) }

// allRead returns errUnread if a reading is pending.
func (p *planner) allRead() error {
	if len(p.unread) > 0 {
		return errUnread
	}
	return nil
}

// mostRounds limits how often delivered files are read for one plan. Two rounds
// are usual: digests, then ranges.
const mostRounds = 6

// readAhead does the readings that the previous attempt to plan asked for. Rounds count from 1.
func (p *planner) readAhead(ctx context.Context, round int) error {
	if round > mostRounds {
		return fmt.Errorf("%s: %w: it changes while it is read", p.unread[0].in.Path, bulkload.ErrGrowing)
	}
	for _, u := range p.unread {
		s := p.see(u.in)
		p.known[glanceOf(u.in)] = s
		var err error
		if u.size == 0 {
			s.sha, err = p.digest(ctx, u.in.Path)
		} else if s.cuts, err = p.cuts(ctx, u.in, u.size); err != nil {
			err = fmt.Errorf("cut %s into ranges: %w", u.in.Path, err)
		}
		if err != nil {
			return err
		}
	}
	p.unread = nil
	return nil
}
