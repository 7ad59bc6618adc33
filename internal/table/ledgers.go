package table

import (
	"context"

	"usertrail/internal/format/manifest"
)

// Ledgers returns the ledgers of all loads, the oldest first. Equal texts of them share their memory. To bound the memory, use
// EachLedger.
func Ledgers(ctx context.Context, t interface {
	EachLedger(ctx context.Context, f func(*manifest.Load) error) error
}) ([]*manifest.Load, error) {
	var out []*manifest.Load
	var texts manifest.TextList // of all ledgers: most have the same
	err := t.EachLedger(ctx, func(l *manifest.Load) error {
		texts.Share(l)
		out = append(out, l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
