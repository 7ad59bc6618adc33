package delivered

import (
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
)

// CountSkip counts a record that the job skips by its reason.
func CountSkip(skips *manifest.Skips, why record.SkipReason) {
	switch why {
	case record.WithoutUser:
		skips.WithoutUser++
	case record.ByRule:
		skips.Condition++
	default:
		skips.Unknown++
	}
}
