package table

import "usertrail/internal/activity"

// Daily is implemented by Users that know the days on which a user has rows. Users that
// read the rows do not implement it.
type Daily interface {
	// Days returns what the current user did on each day of the span. The order is not
	// defined. If several loads brought records of a day, the day may occur several times.
	// The result is valid until the next move.
	Days() []activity.Set
}
