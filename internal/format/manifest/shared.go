package manifest

import (
	"maps"
	"slices"
)

// shared has values that the elements of the lists of a file have in common. A ledger may have thousands of files, and each
// names all behaviours of the job. The values never change.
type shared struct {
	texts      map[string]string
	behaviours []string            // of the last part
	unread     map[string][]string // of the last input
}

// element replaces values of an element by equal values of earlier elements.
func (s *shared) element(e any) {
	switch e := e.(type) {
	case *Input:
		s.input(e)
	case *Outcome:
		s.input(&e.Input)
	case *PlannedFile:
		s.part(e.Part)
		s.text(&e.SkippedBy, &e.CutBy)
	case *LeftOut:
		s.part(e.Part)
	case *Day:
		s.text(&e.Behaviour)
	case *NoValueDays:
		s.text(&e.Behaviour)
	}
}

func (s *shared) input(in *Input) {
	s.part(in.Part)
	s.text(&in.Behaviour, &in.TextsBy, &in.NamesBy, &in.UserBy, &in.TimeBy, &in.SkippedBy, &in.CutBy, &in.Job)
	if len(in.Unread) > 0 && maps.EqualFunc(in.Unread, s.unread, sameList) {
		in.Unread = s.unread
	}
	s.unread = in.Unread
}

// sameList reports whether package json wrote a and b with the same text.
func sameList(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

func (s *shared) part(p *Part) {
	if p == nil {
		return
	}
	if len(p.Behaviours) > 0 && slices.Equal(p.Behaviours, s.behaviours) {
		p.Behaviours = s.behaviours
	}
	s.behaviours = p.Behaviours
	s.text(&p.Other)
}

// text replaces texts. A load has few of them.
func (s *shared) text(texts ...*string) {
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	for _, t := range texts {
		if known, ok := s.texts[*t]; ok {
			*t = known
		} else {
			s.texts[*t] = *t
		}
	}
}
