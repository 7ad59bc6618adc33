package judge

import (
	"slices"

	"usertrail/internal/format/layout"
	"usertrail/internal/table/fetch"
)

// If rows are in order of time, reading only the newest rows takes a scan for each user. One scan
// reads all rows of some hundreds of users.
const (
	scansAtOnce = 16  // scans of a batch that take no longer than one scan
	cellsInScan = 256 // cells that a scan skips in the time of a call, about 0.15 ms
)

// pays reports whether reading only the window of a batch is faster than reading all.
func (r *reader) pays(p *fetch.Batch) bool {
	q := r.query
	scans := q.Info.Narrow && q.Window.Newest > 0 && q.Info.Layout.Traits().Newest == layout.NewestRows
	users := int64(p.Keys.Len())
	return !scans || users <= scansAtOnce || p.Records == 0 || p.Records > users*cellsInScan
}

// absent adds the active users who have no event in the window. users is in order. batch is the
// number of users in the batch, who are all active.
func absent(users []User, batch int) []User {
	out := make([]User, 0, batch)
	for i := range batch {
		at, there := slices.BinarySearchFunc(users, i, func(u User, i int) int { return u.user - i })
		if there {
			out = append(out, users[at])
		} else {
			out = append(out, User{user: i, active: true})
		}
	}
	return out
}
