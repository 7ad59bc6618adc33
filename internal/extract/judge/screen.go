package judge

import (
	"context"
	"slices"
	"time"

	"usertrail/internal/extract/query"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/fetch"
)

// A screen is a first reading of users. It reads only the fields that are needed to judge them.
// The reader then reads all fields of the users who stay, and judges them again.
type screen struct {
	want layout.Want
	pass pass
}

// Screens reports whether users are screened. It is false if judging a user needs all columns that are
// read, or if reading few columns costs as much as reading all of them.
func Screens(q *query.Query) bool {
	return q.Info.Narrow && q.Info.Layout.Traits().FieldCells != 0 && q.Conditional() && !slices.EqualFunc(q.Judges().Fields, q.Want.Fields, slices.Equal)
}

// screenUsers returns the keys of the users who may stay, and the other users. at has the index in keys
// of each user who may stay. It is nil if nobody was screened: stay is keys then.
func (r *reader) screenUsers(ctx context.Context, how reading, keys *fetch.Keys) (stay *fetch.Keys, at []int, left []User, err error) {
	if how.few == nil || keys.Len() == 0 || !r.screen.pass.worth(&r.full) {
		return keys, nil, nil, nil
	}
	began := time.Now()
	s, err := r.sift(ctx, how.few, how, keys)
	if err != nil {
		return nil, nil, nil, err
	}
	s.Trails.Release()
	stay, at = new(fetch.Keys), []int{}
	for _, u := range s.Users {
		if u.To > u.From {
			stay.Add(keys.At(u.user), keys.Sure(u.user))
			at = append(at, u.user)
		} else {
			u.From, u.To = 0, 0
			left = append(left, u)
		}
	}
	r.screen.pass.stayed.Add(int64(stay.Len()))
	r.screen.pass.add(keys.Len(), began)
	return stay, at, left, nil
}
