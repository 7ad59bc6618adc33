package snapshot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/store/hbase/wire"
)

// A family has the attributes that decide which of a family's cells are visible.
type family struct {
	oldest   int64 // ms: cells before it have outlived the family's TTL
	versions int   // of a column, the newest
	least    int   // of these are kept though they have outlived it
	now      int64 // ms
}

// forever is HBase's TTL, in seconds, of cells that do not expire.
const forever = math.MaxInt32

// familyOf reads a family's attributes. KEEP_DELETED_CELLS is not among them: it
// changes nothing for a read without a time range.
func familyOf(s *wire.TableSchema, name string, now time.Time) (family, error) {
	f := family{oldest: math.MinInt64, versions: 1, now: now.UnixMilli()}
	for i := range s.Families {
		if a := s.Families[i].Attributes; s.Families[i].Name == name {
			return f, f.read(a)
		}
	}
	var names []string
	for _, o := range s.Families {
		names = append(names, o.Name)
	}
	return f, fmt.Errorf("it has no family %q; there is %s", name, strings.Join(names, ", "))
}

func (f *family) read(a map[string]string) error {
	for _, other := range []struct{ attribute, what string }{
		{"IS_MOB", "large values are in files of their own"},
		{"NEW_VERSION_BEHAVIOR", "a delete hides only what was written before it"},
	} {
		if strings.EqualFold(a[other.attribute], "true") {
			return fmt.Errorf("its family has %s: %s, which is not supported", other.attribute, other.what)
		}
	}
	for attribute, to := range map[string]*int{"VERSIONS": &f.versions, "MIN_VERSIONS": &f.least} {
		if v, ok := a[attribute]; ok {
			n, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("its family has %s %q, not a number", attribute, v)
			}
			*to = n
		}
	}
	if v, ok := a["TTL"]; ok && !strings.EqualFold(v, "FOREVER") {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("its family has TTL %q, not seconds", v)
		}
		if n != forever && n != -1 {
			f.oldest = f.now - int64(n)*1000
		}
	}
	return nil
}
