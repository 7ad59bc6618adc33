package judge

import (
	"errors"
	"fmt"

	"usertrail/internal/activity"
	"usertrail/internal/extract/condition"
	"usertrail/internal/extract/footprint"
	"usertrail/internal/extract/query"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A User is a user who was judged.
type User struct {
	From, To int     // events From to To, not included, of the batch are in the result
	Bytes    int     // of the values of these events
	ID       []byte  // if there are such events
	Found    bool    // by its rows: the rolls were not sure of the user
	Key      []byte  // valid as long as the batch is
	Steps    []int64 // times of the steps of the sequence in µs, if the user reached all

	user    int // index of the user's key in the batch
	active  bool
	reached int // steps of the sequence
	read    Read
}

// A filter judges users by their trails, and removes from the trails the events that are not
// in the result. It is for one goroutine.
type filter struct {
	q      *query.Query
	layout footprint.Footprint // counts the rows and cells of events
	screen [][]bool            // by kind: the fields that a screen reads; nil without a screen
	plain  bool                // every user's whole trail is in the result
	where  *condition.WhereEvaluator
	having *condition.HavingEvaluator
	steps  *condition.Matcher
	kept   []bool // which events of the user are left so far
	spare  []bool
	passed []trail.Event
}

func newFilter(q *query.Query, layout footprint.Footprint, screen [][]bool) *filter {
	s := &filter{q: q, layout: layout, screen: screen, plain: !q.Conditional()}
	if q.Where != nil {
		s.where = q.Where.Evaluator()
	}
	if q.Having != nil {
		s.having = q.Having.Evaluator()
		s.having.Counting(q.Rule.Asked)
	}
	if q.Sequence != nil {
		s.steps = q.Sequence.Matcher()
	}
	return s
}

// sift judges the users of t in order. known means that all users of t did the behaviours that
// make a user active. sift overwrites events that are not in the result, so that the other
// events of a user are adjacent.
func (s *filter) sift(t *fetch.Trails, known bool) ([]User, error) {
	var out []User
	events := t.Batch.Events
	for from := 0; from < len(events); {
		to := from
		for to < len(events) && events[to].User == events[from].User {
			to++
		}
		user := int(events[from].User)
		j, err := s.judge(t.Batch, from, to, known)
		if err != nil {
			id, _ := s.q.Info.Layout.AppendUser(nil, t.Keys.At(user))
			return nil, fmt.Errorf("judge user %q: %w", id, err)
		}
		j.user, j.Key = user, t.Keys.At(user)
		j.Found = j.Found && !t.Keys.Sure(user)
		out = append(out, j)
		from = to
	}
	return out, nil
}

// judge judges the user with the events from to to. Events outside the window count only
// if they were read to find out who is active.
func (s *filter) judge(b *trail.Batch, from, to int, known bool) (User, error) {
	events := b.Events[from:to]
	did := activity.Set{}
	for i := range events {
		did.Add(int(events[i].Kind))
	}
	j := User{From: from, To: from, Found: s.q.Rule.Judge(did) != activity.Absent}
	if !s.q.Info.Sealed && did.Meets(s.q.Without) {
		return j, nil
	}
	begin, end := s.q.Window.Cut(events)
	events = events[begin:end]
	j.From += begin
	j.To = j.From
	if s.plain {
		if j.active = known || s.q.Rule.Judge(did) == activity.Active; j.active {
			j.To = from + end
			j.read, _ = s.measure(b, events)
		}
		return j, nil
	}
	left, err := s.keep(b, events)
	if err != nil {
		return j, err
	}
	if s.q.Conditions.WhereFirst {
		j.active = s.q.Rule.Judge(left) == activity.Active
	} else {
		j.active = known || s.q.Rule.Judge(did) == activity.Active
	}
	if !j.active {
		return j, nil
	}
	stays, err := s.stays(b, events, &j)
	read, judged := s.measure(b, events)
	if stays && err == nil {
		j.To = j.From + s.choose(events)
	}
	if j.read = read; s.screen != nil && j.To == j.From {
		j.read.Cells = judged // as if only the screen had read the user
	}
	return j, err
}

// keep marks the events that --where and --hours keep, and returns their kinds.
func (s *filter) keep(b *trail.Batch, events []trail.Event) (did activity.Set, err error) {
	s.kept = s.kept[:0]
	for i := range events {
		keep := s.q.Hours.Has(int(events[i].Kind), events[i].Time)
		if keep && s.where != nil {
			if keep, err = s.where.Keeps(b, &events[i]); err != nil {
				return did, unfit("--where", err)
			}
		}
		if keep {
			did.Add(int(events[i].Kind))
		}
		s.kept = append(s.kept, keep)
	}
	return did, nil
}

// unfit adds the flag of a condition to the error of its evaluation. If a number of the
// condition needs more than 64 bits, another try does not help.
func unfit(flag string, err error) error {
	if errors.Is(err, condition.ErrOverflow) {
		return fmt.Errorf("%w: %s: %w", query.ErrWrong, flag, err)
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// stays judges by --having and --sequence.
func (s *filter) stays(b *trail.Batch, events []trail.Event, j *User) (bool, error) {
	if s.having != nil {
		s.having.Begin()
		for i := range events {
			if s.kept[i] {
				s.having.Add(b, &events[i])
			}
		}
		ok, err := s.having.Keeps()
		if err != nil {
			return false, unfit("--having", err)
		}
		if !ok {
			return false, nil
		}
	}
	if s.steps == nil {
		return true, nil
	}
	s.steps.Begin()
	for i := range events {
		if s.kept[i] {
			s.steps.Add(&events[i])
		}
	}
	j.reached = s.steps.Reached()
	if j.reached < len(s.q.Sequence.Steps()) {
		return false, nil
	}
	j.Steps = append(j.Steps, s.steps.Times()...)
	return true, nil
}

// choose moves the events of the result to the beginning of events, and returns their
// number. s.kept marks the events that the conditions kept.
func (s *filter) choose(events []trail.Event) int {
	for i := range events {
		s.kept[i] = s.kept[i] && s.q.Rule.Asked.Has(int(events[i].Kind))
	}
	if n := s.q.Conditions.Context; n > 0 {
		s.around(events, n)
	}
	if s.q.Conditions.At != nil {
		s.at(events, *s.q.Conditions.At)
	}
	n := 0
	for i := range events {
		if s.kept[i] {
			events[n] = events[i]
			n++
		}
	}
	if most := s.q.Conditions.Latest; most > 0 && n > most {
		n = copy(events, events[n-most:n])
	}
	return n
}

// around keeps n events before and after each kept event, of the requested kinds.
func (s *filter) around(events []trail.Event, n int) {
	s.spare = append(s.spare[:0], s.kept...)
	mark := func(i, left int) int {
		switch {
		case s.kept[i]:
			return n
		case left > 0 && s.q.Rule.Asked.Has(int(events[i].Kind)):
			s.spare[i] = true
			return left - 1
		}
		return left
	}
	left := 0
	for i := range events {
		left = mark(i, left)
	}
	left = 0
	for i := len(events) - 1; i >= 0; i-- {
		left = mark(i, left)
	}
	s.kept, s.spare = s.spare, s.kept
}

// at keeps, of each kind, only the last kept event at or before a time.
func (s *filter) at(events []trail.Event, micros int64) {
	var have activity.Set
	for i := len(events) - 1; i >= 0; i-- {
		k := int(events[i].Kind)
		s.kept[i] = s.kept[i] && events[i].Time <= micros && !have.Has(k)
		if s.kept[i] {
			have.Add(k)
		}
	}
}
