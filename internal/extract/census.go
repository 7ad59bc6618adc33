package extract

import (
	"sync"

	"usertrail/internal/activity"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/table"
)

// A census counts users, and adds up their numbers from the rolls, before their rows are read.
type census struct {
	read activity.Set // kinds that are read

	mu     sync.Mutex
	people estimate.People
	daily  bool // the last region's users had their days known
	unsure bool // of some only their rows tell who they are
}

// A regionCensus counts the users of one region. It is for one goroutine.
type regionCensus struct {
	census *census
	days   table.Daily // nil where nobody knows
	people estimate.People
	unsure bool
}

func (c *census) region(users table.Users) *regionCensus {
	days, _ := users.(table.Daily)
	return &regionCensus{census: c, days: days}
}

// count counts the user that the walk is at.
func (r *regionCensus) count(u *table.User) {
	r.people.Users++
	r.people.Records += u.Records
	r.people.UserKinds += int64((u.Did & r.census.read).Len())
	r.unsure = r.unsure || !u.Sure
	if r.days == nil {
		return
	}
	days := r.days.Days()
	r.people.UserDays += int64(len(days))
	for _, did := range days {
		r.people.AllRows += int64(did.Len())
		r.people.Rows += int64((did & r.census.read).Len())
	}
}

func (r *regionCensus) end() {
	r.census.mu.Lock()
	defer r.census.mu.Unlock()
	r.census.people.Add(r.people)
	r.census.daily = r.days != nil
	r.census.unsure = r.census.unsure || r.unsure
}
