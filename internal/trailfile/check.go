package trailfile

import (
	"fmt"

	"usertrail/internal/behaviour"
)

// check reports a batch whose columns do not fit each other or the schema.
func (s Schema) check(b *Batch) error {
	if b.Rows < 0 {
		return fmt.Errorf("batch of %d rows", b.Rows)
	}
	for _, c := range []struct {
		name string
		rows int
	}{{"date", len(b.Date)}, {"time", len(b.Time)}, {"behaviour", len(b.Behaviour)}, {"id", len(b.ID)}} {
		if c.rows != b.Rows {
			return fmt.Errorf("batch of %d rows: column %s has %d", b.Rows, c.name, c.rows)
		}
	}
	if err := b.User.check(b.Rows); err != nil {
		return fmt.Errorf("batch of %d rows: column user_id %w", b.Rows, err)
	}
	for i, k := range b.Behaviour {
		if int(k) >= len(s.Kinds) {
			return fmt.Errorf("batch of %d rows: row %d is of behaviour %d of %d", b.Rows, i, k, len(s.Kinds))
		}
	}
	if len(b.Fields) != len(s.Fields) {
		return fmt.Errorf("batch of %d fields: the schema has %d", len(b.Fields), len(s.Fields))
	}
	for i := range b.Fields {
		if err := b.Fields[i].check(s.Fields[i].Type, b.Rows); err != nil {
			return fmt.Errorf("batch of %d rows: column %s %w", b.Rows, s.Fields[i].Name, err)
		}
	}
	return nil
}

func (v *Values) check(t behaviour.Type, rows int) error {
	if v.Type != t {
		return fmt.Errorf("is %q, the schema says %s", v.Type, t)
	}
	n := 0
	switch t {
	case behaviour.String:
		if err := v.Str.check(rows); err != nil {
			return err
		}
		n = rows
	case behaviour.Int64, behaviour.Timestamp:
		n = len(v.Int)
	case behaviour.Double:
		n = len(v.Double)
	case behaviour.Bool, behaviour.Day:
		n = len(v.Small)
	}
	if n != rows || len(v.Valid) != rows {
		return fmt.Errorf("has %d values and %d marks of validity", n, len(v.Valid))
	}
	return nil
}

func (s *Bytes) check(rows int) error {
	if rows == 0 && len(s.Off) == 0 {
		return nil
	}
	if len(s.Off) != rows+1 {
		return fmt.Errorf("has %d offsets", len(s.Off))
	}
	for i := range rows {
		if s.Off[i] > s.Off[i+1] {
			return fmt.Errorf("ends before it begins in row %d", i)
		}
	}
	if int64(s.Off[rows]) > int64(len(s.Data)) {
		return fmt.Errorf("ends at byte %d of %d", s.Off[rows], len(s.Data))
	}
	return nil
}
