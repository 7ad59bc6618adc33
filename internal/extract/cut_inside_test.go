package extract

// CutAt makes parts of about so many behaviours or bytes, for the rest of the process.
func CutAt(events, bytes int) { partEvents, partBytes = events, bytes }

// ReadAt reads batches of at most so many bytes of values, and SortIn lays answers into
// directories in so much memory, for the rest of the process.
func ReadAt(bytes int)   { userBatchBytes = bytes }
func SortIn(bytes int64) { sortMemory = bytes }
