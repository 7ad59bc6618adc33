package judge

import "sync/atomic"

// Sizes are learned from the batches that were read: how many records a user has, if the table does not
// know it, and how large their values are. Many goroutines may use them at once.
type Sizes struct {
	users, records, bytes atomic.Int64
}

// firstGuess is the assumed number of a user's records before any are read.
const firstGuess = 32

// Add adds a batch that was read.
func (s *Sizes) Add(l *Batch) {
	s.bytes.Add(int64(l.bytes))
	s.records.Add(int64(l.Events))
	s.users.Add(int64(len(l.Users)))
}

// within returns the number of records in three quarters of so many bytes, at least 1. If batches differ, few
// of them are then too large.
func (s *Sizes) within(bytes int) int64 {
	records, had := s.records.Load(), s.bytes.Load()
	if records == 0 || had == 0 {
		return userBatchRecords
	}
	return max(1, int64(float64(bytes)*3/4*float64(records)/float64(had)))
}

// user returns an estimate of the number of records of a user, at least 1.
func (s *Sizes) user() int64 {
	users := s.users.Load()
	if users == 0 {
		return firstGuess
	}
	return s.records.Load()/users + 1
}
