package extract

// CutAt makes parts of about so many behaviours, for the rest of the process.
func CutAt(events int) { partEvents = events }
