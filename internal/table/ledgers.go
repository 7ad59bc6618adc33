package table

import (
	"context"

	"usertrail/internal/format/manifest"
)

// Ledgers returns the ledgers of all loads, the oldest first. They share equal values, and their Manifest is nil. To bound the memory, use
// EachLedger.
func Ledgers(ctx context.Context, t interface {
	EachLedger(ctx context.Context, f func(*manifest.Load) error) error
}) ([]*manifest.Load, error) {
	var out []*manifest.Load
	var sharing manifest.Sharing
	err := t.EachLedger(ctx, func(l *manifest.Load) error {
		sharing.Add(l)
		out = append(out, l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
