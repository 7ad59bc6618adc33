package table

import "sync/atomic"

// Spent is what has been read of a table since it was opened.
type Spent struct {
	Calls int64 // of servers, or reads of files
	Bytes int64 // of files
}

// Since is what was spent after before.
func (s Spent) Since(before Spent) Spent {
	return Spent{Calls: s.Calls - before.Calls, Bytes: s.Bytes - before.Bytes}
}

// A Meter counts what is spent. It may be used by many goroutines at once.
type Meter struct{ calls, bytes atomic.Int64 }

// Add counts a call that brought so many bytes.
func (m *Meter) Add(bytes int) {
	m.calls.Add(1)
	m.bytes.Add(int64(bytes))
}

// Spent is what was counted.
func (m *Meter) Spent() Spent { return Spent{m.calls.Load(), m.bytes.Load()} }

// SpentBy is what has been spent on a table, and whether it counts that.
func SpentBy(t Table) (Spent, bool) {
	if u, ok := t.(unrolled); ok {
		t = u.Table
	}
	m, ok := t.(interface{ Spent() Spent })
	if !ok {
		return Spent{}, false
	}
	return m.Spent(), true
}
