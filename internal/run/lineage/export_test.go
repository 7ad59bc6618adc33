package lineage

import "time"

// SetPatience sets how long s waits for an address to take one event, and returns how long
// it did before.
func SetPatience(s *Sender, d time.Duration) (before time.Duration) {
	before, s.patience = s.patience, d
	return before
}
