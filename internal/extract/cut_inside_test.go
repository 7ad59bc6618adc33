package extract

// CutAt makes parts of about so many behaviours, for the rest of the process.
func CutAt(events int) { partEvents = events }

// ReadAt reads lots of at most so many bytes of values, for the rest of the process.
func ReadAt(bytes int) { lotBytes = bytes }
