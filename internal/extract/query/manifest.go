package query

import (
	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
)

// An Identity is everything that decides the bytes of a result.
type Identity struct {
	manifest.Query
	Table   string `json:"table"`
	Version string `json:"table_version"`
	Plan    string `json:"plan,omitempty"` // that cuts the query into pieces
	// Unrolled means that the rolls are not used. Rows that another program put into HBase
	// without rolls are then in the result; with the rolls they are not.
	Unrolled bool `json:"unrolled,omitempty"`
}

// Identity returns the identity of q without pieces.
func (q *Query) Identity() Identity {
	return Identity{Query: q.Manifest(), Table: q.Info.Address, Version: q.Info.Version, Unrolled: q.Unrolled}
}

// Version returns the version of the table for which the result holds. It is empty if nothing
// shows whether the table changes.
func (q *Query) Version() string {
	if !q.Pinned {
		return ""
	}
	return q.Info.Version
}

// Manifest returns the query for the manifest of the result.
func (q *Query) Manifest() manifest.Query {
	c := &q.Conditions
	m := manifest.Query{
		Span: q.Span, Types: q.Names(), Active: q.Active, Users: q.Users.Digest(), Format: string(q.Output.Format), PartitionBy: q.Output.Partition, Excel: q.Output.Excel,
		Where: c.Where, WhereFirst: c.WhereFirst, Having: c.Having, Sequence: c.Sequence, Without: c.Without,
		Fields: c.Fields, Hours: c.Hours, Context: c.Context, At: c.At, Latest: c.Latest,
	}
	if q.Output.Shape != trailfile.LongShape {
		m.Shape = string(q.Output.Shape)
	}
	if q.Output.Times != UTC {
		m.Times = string(q.Output.Times)
	}
	return m
}

// Recorded returns the query of a manifest, without its users. It is the inverse of
// Query.Manifest.
func Recorded(m *manifest.Query) Spec {
	return Spec{
		Span: m.Span, Types: m.Types, Active: m.Active,
		Conditions: Conditions{
			Where: m.Where, WhereFirst: m.WhereFirst, Having: m.Having, Sequence: m.Sequence, Without: m.Without,
			Fields: m.Fields, Hours: m.Hours, Context: m.Context, At: m.At, Latest: m.Latest,
		},
		Output: Output{Format: Format(m.Format), Shape: trailfile.Shape(m.Shape), Partition: m.PartitionBy, Times: Times(m.Times), Excel: m.Excel},
	}
}

// Result returns the manifest of the result, without its counts and parts.
func (q *Query) Result() *manifest.Extract {
	var all []behaviour.Field
	for _, c := range q.Schema.Columns {
		all = append(all, behaviour.Field{Name: c.Name, Type: c.Type})
	}
	return &manifest.Extract{
		Version: manifest.Version, Table: q.Info.Address, Zone: q.Info.Schema.Zone, Query: q.Manifest(), Sample: q.Sample,
		TableVersion: q.Version(), Unrolled: q.Unrolled,
		Columns: all, Fields: q.Columns(), Users: int64(q.Users.Len()), Sequence: q.funnel(),
	}
}

// funnel returns the steps of the sequence.
func (q *Query) funnel() []manifest.Step {
	if q.Sequence == nil {
		return nil
	}
	var out []manifest.Step
	for _, s := range q.Sequence.Steps() {
		step := manifest.Step{Behaviour: q.Info.Schema.Kinds[s.Kind].Name}
		if s.Within > 0 {
			step.Within = s.Within.String()
		}
		out = append(out, step)
	}
	return out
}
