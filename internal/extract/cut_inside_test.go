package extract

// CutAt makes parts of about so many behaviours, for the rest of the process.
func CutAt(events int) { partEvents = events }

// ReadAt reads lots of at most so many bytes of values, and SortIn lays answers into
// directories in so much memory, for the rest of the process.
func ReadAt(bytes int)   { lotBytes = bytes }
func SortIn(bytes int64) { sortMemory = bytes }
