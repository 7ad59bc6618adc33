package manifest

import (
	"reflect"
	"slices"

	"usertrail/internal/behaviour"
)

// Rereads reports whether l added values of fields to records of earlier loads.
func (l *Load) Rereads() bool {
	return slices.ContainsFunc(l.Inputs, func(in Input) bool { return in.Reread != nil })
}

// SetVersion sets the lowest version that can have l.
func (l *Load) SetVersion() {
	l.Version = Version
	if l.Rereads() {
		l.Version = RereadLedgerVersion
	}
}

// HasReread reports whether in has all values of a file that was read again.
func (in *Input) HasReread(of *Input) bool {
	if in.RereadNoValue != nil && !reflect.DeepEqual(in.RereadNoValue, of.RereadNoValue) {
		return false // of may have values of these days
	}
	for kind, fields := range of.Reread {
		if slices.ContainsFunc(fields, func(field string) bool { return !slices.Contains(in.Reread[kind], field) }) {
			return false
		}
	}
	return in.Path == of.Path && in.SHA256 == of.SHA256 && in.Part.Covers(of.Part)
}

// Gave reports whether the load added the values of a field to the records of a date and behaviour that
// earlier loads of the file had added.
func (in *Input) Gave(field string, d behaviour.Date, behaviour string) bool {
	return slices.Contains(in.Reread[behaviour], field) && in.Part.Has(d, behaviour, nil) && !in.RereadNoValue.has(field, d, behaviour)
}

// has reports whether a field has no value on a date of a behaviour.
func (n *NoValue) has(field string, d behaviour.Date, name string) bool {
	if n == nil {
		return false
	}
	for i := range n.Days {
		if days := &n.Days[i]; days.Behaviour == name && days.Has(d) && n.hasField(days, field) {
			return true
		}
	}
	return false
}

// hasField reports whether a field has no value on some days of n.
func (n *NoValue) hasField(days *NoValueDays, field string) bool {
	for f := range n.FieldsOf(days) {
		if f.Name == field {
			return true
		}
	}
	return false
}

// DaysOf returns the days of a behaviour on which a field has no value, as behaviour.Join does.
func (n *NoValue) DaysOf(field, name string) []behaviour.Span {
	var out []behaviour.Span
	if n == nil {
		return nil
	}
	for i := range n.Days {
		if days := &n.Days[i]; days.Behaviour == name && n.hasField(days, field) {
			out = append(out, days.Days...)
		}
	}
	return behaviour.Join(out)
}
