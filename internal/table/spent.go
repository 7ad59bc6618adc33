package table

import "sync/atomic"

// Spent counts the reads of a table since it was opened.
type Spent struct {
	Calls int64 // to servers, or reads of files
	Bytes int64 // of files
}

// Since returns the reads since before.
func (s Spent) Since(before Spent) Spent {
	return Spent{Calls: s.Calls - before.Calls, Bytes: s.Bytes - before.Bytes}
}

// A Meter counts reads. Many goroutines may use it at once.
type Meter struct{ calls, bytes atomic.Int64 }

// Add counts a call that returned so many bytes.
func (m *Meter) Add(bytes int) {
	m.calls.Add(1)
	m.bytes.Add(int64(bytes))
}

// Spent returns the counts.
func (m *Meter) Spent() Spent { return Spent{m.calls.Load(), m.bytes.Load()} }

// SpentBy returns the reads of a table. It returns false if the table does not count them.
func SpentBy(t Table) (Spent, bool) {
	m, ok := As[Metered](t)
	if !ok {
		return Spent{}, false
	}
	return m.Spent(), true
}
