package judge

import (
	"sync"

	"usertrail/internal/activity"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/table"
)

// A Census counts users by the rolls, before their rows are read. Many goroutines may use it at
// once, each for another region.
type Census struct {
	Read activity.Set // kinds that are read

	mu     sync.Mutex
	people estimate.People
	daily  bool // the rolls have the days of users
	unsure bool // some users may have no rows
}

// Counted returns the counts of all regions that have ended. daily reports whether the rolls
// have them.
func (c *Census) Counted() (p estimate.People, daily bool) { return c.people, c.daily }

// Unsure reports whether the rolls have users who may have no rows.
func (c *Census) Unsure() bool { return c.unsure }

// A RegionCensus counts the users of one region. It is for one goroutine.
type RegionCensus struct {
	census *Census
	days   table.Daily // nil if the rolls have no days
	people estimate.People
	unsure bool
}

// Region returns the census of the region whose users are users.
func (c *Census) Region(users table.Users) *RegionCensus {
	days, _ := users.(table.Daily)
	return &RegionCensus{census: c, days: days}
}

// Count counts u, the current user of the region's users.
func (r *RegionCensus) Count(u *table.User) {
	r.people.Users++
	r.people.Records += u.Records
	r.people.UserKinds += int64(u.Did.And(r.census.Read).Len())
	r.unsure = r.unsure || !u.Sure
	if r.days == nil {
		return
	}
	days := r.days.Days()
	r.people.UserDays += int64(len(days))
	for _, did := range days {
		r.people.AllRows += int64(did.Len())
		r.people.Rows += int64(did.And(r.census.Read).Len())
	}
}

// End adds the region to its census.
func (r *RegionCensus) End() {
	r.census.mu.Lock()
	defer r.census.mu.Unlock()
	r.census.people.Add(r.people)
	r.census.daily = r.days != nil
	r.census.unsure = r.census.unsure || r.unsure
}
