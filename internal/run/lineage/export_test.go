package lineage

import "time"

// SetPatience sets how long s waits for an address to accept one event, and returns the
// previous value.
func SetPatience(s *Sender, d time.Duration) (before time.Duration) {
	before, s.patience = s.patience, d
	return before
}
