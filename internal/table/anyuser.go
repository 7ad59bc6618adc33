package table

import (
	"bytes"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/split"
)

// AnyUser is used in place of the users of a region if only the rows show which users exist.
// Every user may have rows there, of every behaviour.
type AnyUser struct {
	region split.Region
	did    activity.Set
}

// NewAnyUser returns the AnyUser of a region.
func NewAnyUser(r split.Region, s *behaviour.Schema) AnyUser {
	a := AnyUser{region: r}
	for k := range s.Kinds {
		a.did.Add(k)
	}
	return a
}

// SeekGE sets u to the first possible user that is not before key. It returns false if the
// region ends before.
func (a AnyUser) SeekGE(key []byte, u *User) bool {
	if bytes.Compare(key, a.region.Start) < 0 {
		key = a.region.Start
	}
	if len(a.region.End) > 0 && bytes.Compare(key, a.region.End) >= 0 {
		return false
	}
	*u = User{Key: append(u.Key[:0], key...), Did: a.did}
	return true
}
