package tryout

import "slices"

// Shares divides a number of bytes among files of the given sizes. No file gets more than its size,
// and no file less than least, unless it is smaller. Bytes that small files do not need are divided
// among the larger files.
func Shares(sizes []int64, bytes, least int64) []int64 {
	sorted := slices.Sorted(slices.Values(sizes))
	share := int64(0)
	for i, size := range sorted {
		share = bytes / int64(len(sorted)-i)
		if size > share {
			break
		}
		bytes -= size
		share = size
	}
	out := make([]int64, len(sizes))
	for i, size := range sizes {
		out[i] = min(size, max(share, least))
	}
	return out
}
