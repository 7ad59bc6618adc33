package table

import (
	"bytes"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/split"
)

// Anybody is who may have rows in a region of a table of which nothing but the rows
// knows who has: every user, and all of them may have done everything.
type Anybody struct {
	region split.Region
	did    activity.Set
}

// NewAnybody returns Anybody of a region.
func NewAnybody(r split.Region, s *behaviour.Schema) Anybody {
	a := Anybody{region: r}
	for k := range s.Kinds {
		a.did |= activity.Of(k)
	}
	return a
}

// SeekGE makes u the first user not before key, and says whether the region has it.
func (a Anybody) SeekGE(key []byte, u *User) bool {
	if bytes.Compare(key, a.region.Start) < 0 {
		key = a.region.Start
	}
	if len(a.region.End) > 0 && bytes.Compare(key, a.region.End) >= 0 {
		return false
	}
	*u = User{Key: append(u.Key[:0], key...), Did: a.did}
	return true
}
