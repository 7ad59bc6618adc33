package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table/precheck"
)

// forever is the TTL of cells that never expire, in seconds: Java's greatest int.
const forever = 1<<31 - 1

// TTL returns how long HBase keeps a cell, counted from its timestamp. It returns 0 if there is no
// limit, or if HBase does not show the TTL to this user.
func (t *Table) TTL(ctx context.Context) (time.Duration, error) {
	d, err := t.client.Describe(ctx, t.address.Table)
	if errors.Is(err, hbase.ErrPermission) {
		return 0, nil
	}
	if err != nil {
		return 0, t.address.explain(err)
	}
	i := slices.IndexFunc(d.Families, func(f wire.FamilySchema) bool { return f.Name == t.family })
	if i < 0 {
		return 0, nil
	}
	ttl, err := ttlOf(&d.Families[i])
	if err != nil {
		return 0, fmt.Errorf("table %s: %w", t.address, err)
	}
	return ttl, nil
}

// ttlOf returns the TTL of a family; 0 means no limit.
func ttlOf(f *wire.FamilySchema) (time.Duration, error) {
	text := f.Attributes["TTL"]
	if text == "" || strings.EqualFold(text, "FOREVER") {
		return 0, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 32)
	if err != nil || seconds < 0 {
		return 0, fmt.Errorf("family %s has the TTL %q", f.Name, text)
	}
	if seconds == forever {
		return 0, nil
	}
	return time.Duration(seconds) * time.Second, nil
}

// ttlNotes describes how the family's TTL affects the load, and whether it differs from the job's.
func ttlNotes(f *wire.FamilySchema, load precheck.Load) []string {
	kept, err := ttlOf(f)
	if err != nil {
		return []string{err.Error()}
	}
	var notes []string
	if load.Forever && kept > 0 {
		notes = append(notes, fmt.Sprintf("TTL is %s, and the job's ttl is forever: TTL => 'FOREVER' sets it", days(kept)))
	}
	if load.TTL > 0 && load.TTL != kept {
		notes = append(notes, fmt.Sprintf("TTL is %s, and the job's ttl is %s: TTL => %d sets it", keptFor(kept), days(load.TTL), int64(load.TTL/time.Second)))
	}
	if oldest := load.Span.From.Start(time.UTC); kept > 0 && time.Since(oldest) > kept {
		notes = append(notes, fmt.Sprintf("TTL is %s: of what is loaded, days before %s are not to be seen", days(kept), time.Now().Add(-kept).UTC().Format(time.DateOnly)))
	}
	return notes
}

func keptFor(ttl time.Duration) string {
	if ttl == 0 {
		return "forever"
	}
	return days(ttl)
}
