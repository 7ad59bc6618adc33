package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/cell"
)

// Types of tags that decide which users see a cell, for how long, and where its value is.
const (
	tagACL        = 1
	tagVisibility = 2
	tagMOB        = 5
	tagTTL        = 8
)

// Errors about a cell that only a RegionServer can read.
var (
	errOwnRights = errors.New("has permissions of its own")
	errLabels    = errors.New("has visibility labels")
	errMOB       = errors.New("is a reference to a large value")
	errTags      = errors.New("tags do not add up")
	errType      = errors.New("type is not known")
)

// A visibility decides which cells of a family are visible. These are the newest versions of each column that
// are not deleted and not expired, up to the number that the family keeps. It receives all cells of a
// row in the order of package cell. If two cells are equal, it receives the cell that was written later
// first.
//
// A delete comes before the cells that it deletes, so the cells of the row up to now are enough.
type visibility struct {
	family

	met    int    // versions of column
	last   int64  // time of the last of them
	column []byte // the last Put's qualifier

	marked     bool // the row has deletes
	whole      bool // one of the family, up to
	wholeTime  int64
	moments    []int64 // deletes of the family at one time
	deleted    cell.Type
	deletedAt  int64
	deletedCol []byte
}

// begin prepares for another row.
func (s *visibility) begin() {
	s.met = 0
	if s.marked {
		s.marked, s.whole, s.deleted, s.moments = false, false, 0, s.moments[:0]
	}
}

// sees reports whether c is visible.
func (s *visibility) sees(c *cell.Cell) (bool, error) {
	if len(c.Tags) > 0 {
		if gone, err := s.outlived(c); gone || err != nil {
			return false, err
		}
	}
	if c.Type != cell.Put {
		return false, s.mark(c)
	}
	if s.marked && s.hides(c) {
		return false, nil
	}
	return s.counts(c), nil
}

// counts reports whether a Put that is not deleted is among the versions that are kept.
func (s *visibility) counts(c *cell.Cell) bool {
	switch {
	case s.met == 0 || !bytes.Equal(s.column, c.Qualifier):
		s.met, s.column = 0, append(s.column[:0], c.Qualifier...)
	case s.met >= s.versions:
		return false
	case c.Time == s.last:
		return false // the one before was written later
	}
	s.met, s.last = s.met+1, c.Time
	return c.Time >= s.oldest || s.met <= s.least
}

// outlived reports whether c has a TTL of its own that has expired.
func (s *visibility) outlived(c *cell.Cell) (bool, error) {
	for b := c.Tags; len(b) > 0; {
		if len(b) < 3 {
			return false, fmt.Errorf("%s: %w", c, errTags)
		}
		n := int(binary.BigEndian.Uint16(b))
		if n < 1 || n > len(b)-2 {
			return false, fmt.Errorf("%s: %w", c, errTags)
		}
		typ, value := b[2], b[3:2+n]
		b = b[2+n:]
		switch {
		case typ == tagACL:
			return false, fmt.Errorf("%s: %w", c, errOwnRights)
		case typ == tagVisibility:
			return false, fmt.Errorf("%s: %w", c, errLabels)
		case typ == tagMOB:
			return false, fmt.Errorf("%s: %w", c, errMOB)
		case typ == tagTTL && len(value) == 8:
			if c.Time+int64(binary.BigEndian.Uint64(value)) < s.now {
				return true, nil
			}
		}
	}
	return false, nil
}

// mark records a delete. A delete of cells that an earlier delete of the whole family covers
// changes nothing.
func (s *visibility) mark(c *cell.Cell) error {
	if s.whole && c.Time <= s.wholeTime {
		return nil
	}
	switch c.Type {
	case cell.DeleteFamily:
		s.whole, s.wholeTime = true, c.Time
	case cell.DeleteFamilyVersion:
		s.moments = append(s.moments, c.Time)
	case cell.DeleteColumn, cell.Delete:
		if s.deleted != cell.DeleteColumn || !bytes.Equal(s.deletedCol, c.Qualifier) {
			s.deleted, s.deletedAt = c.Type, c.Time
			s.deletedCol = append(s.deletedCol[:0], c.Qualifier...)
		}
	default:
		return fmt.Errorf("%s: %w", c, errType)
	}
	s.marked = true
	return nil
}

// hides reports whether a delete that was read hides a Put.
func (s *visibility) hides(c *cell.Cell) bool {
	if s.whole && c.Time <= s.wholeTime || slices.Contains(s.moments, c.Time) {
		return true
	}
	if s.deleted == 0 || !bytes.Equal(s.deletedCol, c.Qualifier) {
		return false
	}
	return s.deleted == cell.DeleteColumn || c.Time == s.deletedAt
}
