package estimate

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// Logs are the delivered files that hold the days and behaviours of a question.
type Logs struct {
	Files   int64   `json:"files"`
	Bytes   int64   `json:"bytes"`   // as delivered
	Text    int64   `json:"text"`    // bytes, once decompressed
	Seconds float64 `json:"seconds"` // to read all of them
	Sooner  bool    `json:"sooner"`  // than the table
}

// packed is how many bytes of text a byte of a compressed log is taken for.
const packed = 5

// Add counts a delivered file of so many bytes.
func (l *Logs) Add(bytes int64, compressed bool) {
	l.Files++
	l.Bytes += bytes
	if compressed {
		bytes *= packed
	}
	l.Text += bytes
}

// logStart is what an engine takes that reads one small file.
const logStart = 0.2

// Compare estimates how long it takes to answer from the files, of which the plan's
// behaviours come out, and returns what is to be said where that is sooner.
func (l *Logs) Compare(p *Plan) string {
	l.Seconds = logStart + float64(l.Text)/logBytes + float64(p.Behaviours)/logRecords
	if l.Sooner = l.Files > 0 && l.Seconds < p.Seconds; !l.Sooner {
		return ""
	}
	return fmt.Sprintf("The raw logs would be cheaper: %s of %s hold these days and behaviours, and an engine that reads them whole, such as DuckDB, might take %s instead of %s.",
		plural(l.Files, "delivered file"), humanize.IBytes(uint64(max(l.Bytes, 0))), About(l.Seconds), About(p.Seconds))
}
