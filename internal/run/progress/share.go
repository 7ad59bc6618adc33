package progress

// A Share is a part of a step's work that is counted in another unit. For example, the bytes
// of a file are counted by the cells that were read. Only one goroutine may use it.
type Share struct {
	p                  *Progress
	size, total, given int64
}

// Share returns a Share of size units of the current step's work. It is done when total other
// units are done.
func (p *Progress) Share(size, total int64) *Share { return &Share{p: p, size: size, total: total} }

// UpTo reports that n other units are done.
func (s *Share) UpTo(n int64) {
	if s.total <= 0 {
		return
	}
	now := int64(float64(s.size) * min(float64(n)/float64(s.total), 1))
	s.p.Add(now - s.given)
	s.given = now
}

// End reports that all are done.
func (s *Share) End() {
	s.p.Add(s.size - s.given)
	s.given = s.size
}
