package trailfile

import (
	"fmt"

	"usertrail/internal/behaviour"
)

// check returns an error for a batch whose columns do not fit each other or the schema.
func (s Schema) check(b *Batch) error {
	if b.Rows < 0 {
		return fmt.Errorf("batch of %d rows", b.Rows)
	}
	if len(b.Columns) != len(s.Columns) {
		return fmt.Errorf("batch of %d columns: the schema has %d", len(b.Columns), len(s.Columns))
	}
	for i := range b.Columns {
		if err := b.Columns[i].check(&s.Columns[i], b.Rows); err != nil {
			return fmt.Errorf("batch of %d rows: column %s %w", b.Rows, s.Columns[i].Name, err)
		}
	}
	return nil
}

func (v *Values) check(c *Column, rows int) error {
	if v.Type != c.Type {
		return fmt.Errorf("is %q, the schema says %s", v.Type, c.Type)
	}
	n := 0
	switch {
	case c.Names != nil:
		n = len(v.Code)
	case c.Type == behaviour.String:
		if err := v.Str.check(rows); err != nil {
			return err
		}
		n = rows
	case c.Type == behaviour.Double:
		n = len(v.Double)
	case c.Type == behaviour.Bool || c.Type == behaviour.Day:
		n = len(v.Small)
	default:
		n = len(v.Int)
	}
	if c.Nullable && (n != rows || len(v.Valid) != rows) {
		return fmt.Errorf("has %d values and %d marks of validity", n, len(v.Valid))
	}
	if n != rows {
		return fmt.Errorf("has %d", n)
	}
	return v.checkCodes(c)
}

// checkCodes returns an error for a row whose code has no name.
func (v *Values) checkCodes(c *Column) error {
	if c.Names == nil {
		return nil
	}
	for i, k := range v.Code {
		if int(k) >= len(c.Names) {
			return fmt.Errorf("is in row %d number %d of %d", i, k, len(c.Names))
		}
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
