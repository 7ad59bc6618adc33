package extract

import (
	"errors"
	"fmt"

	"usertrail/internal/activity"
	"usertrail/internal/extract/condition"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

// A judged user is one that rows were found of.
type judged struct {
	user     int    // index of the key among those of the batch
	from, to int    // the events that come out, if any
	bytes    int    // of their values
	found    bool   // and not known to be there before its rows were read
	key      []byte // of one who was found
	active   bool
	reached  int     // steps of the sequence
	steps    []int64 // when each step happened, once all are reached; µs
	read     read
}

// A filter judges users by their trails, and removes from the trails the events that do not
// come out. It is for one goroutine.
type filter struct {
	q      *question
	plain  bool // every user's whole trail comes out
	where  *condition.WhereEvaluator
	having *condition.HavingEvaluator
	steps  *condition.Matcher
	kept   []bool // of a user's events, those that are left so far
	spare  []bool
	passed []trail.Event
}

func newFilter(q *question) *filter {
	s := &filter{q: q, plain: !q.conditional()}
	if q.where != nil {
		s.where = q.where.Evaluator()
	}
	if q.having != nil {
		s.having = q.having.Evaluator()
		s.having.Counting(q.rule.Asked)
	}
	if q.steps != nil {
		s.steps = q.steps.Matcher()
	}
	return s
}

// sift judges the users of t in order. known says that all of them did what makes users
// active. Events that do not come out are overwritten, so that the other events of a user
// are adjacent.
func (s *filter) sift(t *fetch.Trails, known bool) ([]judged, error) {
	var out []judged
	events := t.Batch.Events
	for from := 0; from < len(events); {
		to := from
		for to < len(events) && events[to].User == events[from].User {
			to++
		}
		user := int(events[from].User)
		j, err := s.judge(t.Batch, from, to, known)
		if err != nil {
			id, _ := s.q.info.Layout.AppendUser(nil, t.Keys.At(user))
			return nil, fmt.Errorf("judge user %q: %w", id, err)
		}
		j.user = user
		if j.found = j.found && !t.Keys.Sure(j.user); j.found {
			j.key = t.Keys.At(j.user)
		}
		out = append(out, j)
		from = to
	}
	return out, nil
}

// judge judges the user with the events from to to. Events outside the window count only
// if they were read to find out who is active.
func (s *filter) judge(b *trail.Batch, from, to int, known bool) (judged, error) {
	events := b.Events[from:to]
	did := activity.Set(0)
	for i := range events {
		did |= activity.Of(int(events[i].Kind))
	}
	j := judged{from: from, to: from, found: s.q.rule.Judge(did) != activity.Absent}
	if !s.q.info.Sealed && did&s.q.without != 0 {
		return j, nil
	}
	begin, end := s.q.window.cut(events)
	events = events[begin:end]
	j.from += begin
	j.to = j.from
	if s.plain {
		if j.active = known || s.q.rule.Judge(did) == activity.Active; j.active {
			j.to = from + end
			j.read, _ = s.measure(b, events)
		}
		return j, nil
	}
	left, err := s.keep(b, events)
	if err != nil {
		return j, err
	}
	if s.q.asked.WhereFirst {
		j.active = s.q.rule.Judge(left) == activity.Active
	} else {
		j.active = known || s.q.rule.Judge(did) == activity.Active
	}
	if !j.active {
		return j, nil
	}
	stays, err := s.stays(b, events, &j)
	read, judged := s.measure(b, events)
	if stays && err == nil {
		j.to = j.from + s.choose(events)
	}
	if j.read = read; s.q.screen != nil && j.to == j.from {
		j.read.Cells = judged // as if only the screen had seen the user
	}
	return j, err
}

// keep marks what --where and --hours keep, and returns the kinds of it.
func (s *filter) keep(b *trail.Batch, events []trail.Event) (did activity.Set, err error) {
	s.kept = s.kept[:0]
	for i := range events {
		keep := s.q.hours.has(events[i].Time)
		if keep && s.where != nil {
			if keep, err = s.where.Keeps(b, &events[i]); err != nil {
				return 0, unfit("--where", err)
			}
		}
		if keep {
			did |= activity.Of(int(events[i].Kind))
		}
		s.kept = append(s.kept, keep)
	}
	return did, nil
}

// unfit says of an evaluation's error which flag's condition it is of. Another try will not
// help where the condition itself leaves 64 bits.
func unfit(flag string, err error) error {
	if errors.Is(err, condition.ErrOverflow) {
		return fmt.Errorf("%w: %s: %w", ErrQuestion, flag, err)
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// stays judges by --having and --sequence.
func (s *filter) stays(b *trail.Batch, events []trail.Event, j *judged) (bool, error) {
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
	if j.reached < len(s.q.steps.Steps()) {
		return false, nil
	}
	j.steps = append(j.steps, s.steps.Times()...)
	return true, nil
}

// choose moves the events that come out to the beginning of events, and returns their
// number. s.kept says which events the conditions kept.
func (s *filter) choose(events []trail.Event) int {
	for i := range events {
		s.kept[i] = s.kept[i] && s.q.rule.Asked.Has(int(events[i].Kind))
	}
	if n := s.q.asked.Context; n > 0 {
		s.around(events, n)
	}
	if s.q.asked.At != nil {
		s.at(events, *s.q.asked.At)
	}
	n := 0
	for i := range events {
		if s.kept[i] {
			events[n] = events[i]
			n++
		}
	}
	if most := s.q.asked.Latest; most > 0 && n > most {
		n = copy(events, events[n-most:n])
	}
	return n
}

// around keeps, of the asked kinds, n events before and after each that is kept.
func (s *filter) around(events []trail.Event, n int) {
	s.spare = append(s.spare[:0], s.kept...)
	mark := func(i, left int) int {
		switch {
		case s.kept[i]:
			return n
		case left > 0 && s.q.rule.Asked.Has(int(events[i].Kind)):
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

// at keeps of each kind the last kept event at or before a time.
func (s *filter) at(events []trail.Event, micros int64) {
	var have activity.Set
	for i := len(events) - 1; i >= 0; i-- {
		k := int(events[i].Kind)
		s.kept[i] = s.kept[i] && events[i].Time <= micros && !have.Has(k)
		if s.kept[i] {
			have |= activity.Of(k)
		}
	}
}
