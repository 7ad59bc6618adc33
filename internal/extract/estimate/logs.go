package estimate

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"usertrail/internal/run/quantity"
)

// Logs sums up the delivered files that hold the days and behaviours of a query.
type Logs struct {
	Files   int64   `json:"files"`
	Bytes   int64   `json:"bytes"`   // as delivered
	Text    int64   `json:"text"`    // bytes, once decompressed
	Seconds float64 `json:"seconds"` // to read all of them
	Sooner  bool    `json:"sooner"`  // than the table
}

// packed is the assumed number of bytes of text in one byte of a compressed log.
const packed = 5

// Add counts a delivered file of the given size.
func (l *Logs) Add(bytes int64, compressed bool) {
	l.Files++
	l.Bytes += bytes
	if compressed {
		bytes *= packed
	}
	l.Text += bytes
}

// logStart is the time of an engine that reads one small file, in seconds.
const logStart = 0.2

// Compare estimates the time of a query that reads the files and returns the plan's
// behaviours. If that is faster than p, it returns a sentence about it, and otherwise "".
func (l *Logs) Compare(p *Plan) string {
	l.Seconds = logStart + float64(l.Text)/logBytes + float64(p.Behaviours)/logRecords
	if l.Sooner = l.Files > 0 && l.Seconds < p.Seconds; !l.Sooner {
		return ""
	}
	return fmt.Sprintf("The raw logs would be cheaper: %s of %s hold these days and behaviours, and an engine that reads them whole, such as DuckDB, might take %s instead of %s.",
		quantity.Of(l.Files, "delivered file"), humanize.IBytes(uint64(max(l.Bytes, 0))), About(l.Seconds), About(p.Seconds))
}
