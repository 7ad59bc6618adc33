package bulkload

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errUnread ends an attempt to plan for which delivered files have to be read. They are read
// without the table's lock, and the plan is made again.
var errUnread = errors.New("delivered files have to be read first")

// A glance is a delivered file as it was listed.
type glance struct {
	path     string
	size     int64
	modified time.Time
}

// seen is what was read of a delivered file.
type seen struct {
	sha  string  // digest
	cuts []int64 // where its ranges begin
}

// A reading is what has to be read of a delivered file.
type reading struct {
	in   *input
	size int64 // of ranges; 0 asks for the digest
}

func glanceOf(in *input) glance { return glance{in.Path, in.Size, in.Modified} }

// see returns what is known of a file.
func (p *planner) see(in *input) *seen {
	if s := p.known[glanceOf(in)]; s != nil {
		return s
	}
	return new(seen)
}

// ask has something read of a file. size is 0 for its digest, or the size of ranges.
func (p *planner) ask(in *input, size int64) { p.unread = append(p.unread, reading{in, size}) }

// allRead fails with errUnread if something has to be read.
func (p *planner) allRead() error {
	if len(p.unread) > 0 {
		return errUnread
	}
	return nil
}

// mostRounds is how often delivered files are read and found to be others again. Two rounds
// are usual: digests, then ranges.
const mostRounds = 6

// readAhead reads what the attempt to plan before, of a number from 1, has asked for.
func (p *planner) readAhead(ctx context.Context, round int) error {
	if round > mostRounds {
		return fmt.Errorf("%s: %w: it changes while it is read", p.unread[0].in.Path, ErrGrowing)
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
