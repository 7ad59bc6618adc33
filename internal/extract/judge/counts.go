package judge

import "usertrail/internal/format/layout"

// Counts are numbers of users, by the step that they reached.
type Counts struct {
	Found  int64   `json:"found"`           // users with any of the requested behaviours
	Active int64   `json:"active"`          // users of Found who are active
	Steps  []int64 `json:"steps,omitempty"` // users who reached each step of the sequence
	Read   Read    `json:"read"`            // of the users of Active

	Foreign layout.Foreign `json:"foreign,omitzero"` // cells that were skipped
}

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	c.Found += o.Found
	c.Active += o.Active
	c.Read.add(&o.Read)
	c.Foreign.Add(o.Foreign)
	for i, n := range o.Steps {
		c.Reach(i + 1)
		c.Steps[i] += n
	}
}

// Reach makes Steps have at least so many steps.
func (c *Counts) Reach(steps int) {
	for len(c.Steps) < steps {
		c.Steps = append(c.Steps, 0)
	}
}

// Count counts one user.
func (c *Counts) Count(u *User) {
	if u.Found {
		c.Found++
	}
	if u.active {
		c.Active++
		c.Read.add(&u.read)
	}
	c.Reach(u.reached)
	for i := range u.reached {
		c.Steps[i]++
	}
}

// A Read counts the data that was read of some users. Screening does not change the counts. They add up
// over all runs that the extract needed.
type Read struct {
	Rows       int64 `json:"rows"`
	Behaviours int64 `json:"behaviours"`
	Cells      int64 `json:"cells"`
}

func (r *Read) add(o *Read) {
	r.Rows += o.Rows
	r.Behaviours += o.Behaviours
	r.Cells += o.Cells
}
