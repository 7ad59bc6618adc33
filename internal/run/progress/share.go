package progress

// A Share is a part of a step's work that is known by a count of other things, as bytes of
// a file are by the cells that were read. It is for one goroutine.
type Share struct {
	p                  *Progress
	size, total, given int64
}

// Share is so much of the current step's work, done when total other things are.
func (p *Progress) Share(size, total int64) *Share { return &Share{p: p, size: size, total: total} }

// UpTo says that n of the other things are done.
func (s *Share) UpTo(n int64) {
	if s.total <= 0 {
		return
	}
	now := int64(float64(s.size) * min(float64(n)/float64(s.total), 1))
	s.p.Add(now - s.given)
	s.given = now
}

// End says that all is done.
func (s *Share) End() {
	s.p.Add(s.size - s.given)
	s.given = s.size
}
