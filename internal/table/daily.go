package table

import "usertrail/internal/activity"

// Daily is implemented by Users that know the days on which a user has rows. Those
// that have to ask the rows do not.
type Daily interface {
	// Days are what the user it is at did on each day of the span, in no promised
	// order, valid until the next move. A day that several loads brought records of
	// may come as many times.
	Days() []activity.Set
}
