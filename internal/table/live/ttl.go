package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/hbase"
	"usertrail/internal/hbase/wire"
)

// forever is the TTL of cells that never expire, in seconds: Java's greatest int.
const forever = 1<<31 - 1

// TTL is for how long after its timestamp a cell is there; 0 is for ever, and also
// where HBase does not tell it to this user.
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

// ttlOf is a family's; 0 is for ever.
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
