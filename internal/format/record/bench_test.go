package record

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/rule"
)

// benchRows is the number of records that a benchmark reads.
const benchRows = 100_000

// benchFormat returns the format of a log of seven columns. All of them are read.
func benchFormat(b *testing.B, s Syntax) *Format {
	return &Format{
		Schema: &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{
			{Name: "programme", Type: behaviour.String}, {Name: "channel", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64},
			{Name: "price", Type: behaviour.Double}, {Name: "url", Type: behaviour.String},
		}}}},
		Zone:   zone(b, "Asia/Shanghai"),
		Syntax: s,
		Names:  []string{"user_id", "time", "programme", "channel", "seconds", "price", "url"},
		Slack:  1,
		Kinds: []Kind{{
			User:   Column{Name: "user_id"},
			Time:   Time{Column: Column{Name: "time"}, Format: time.DateTime},
			Fields: []Column{{Name: "programme"}, {Name: "channel"}, {Name: "seconds"}, {Name: "price"}, {Name: "url"}},
		}},
	}
}

// benchText returns a log. Each line of it is made by line from a record's columns.
func benchText(line string) string {
	var b strings.Builder
	for i := range benchRows {
		fmt.Fprintf(&b, line+"\n", fmt.Sprintf("8618%08d", i*7919%200000), fmt.Sprintf("2014-09-01 %02d:%02d:%02d", i/3600%24, i/60%60, i%60),
			[]string{"演员的诞生", "News at Ten", "夜间新闻 第12集"}[i%3], "cctv-8", i%5400, float64(i%900)/100, "http://vod.example.com/asset/000"+fmt.Sprint(i%10000)+"/play.m3u8")
	}
	return b.String()
}

const (
	csvLine    = "%s,%s,%s,%s,%d,%.2f,%s"
	tsvLine    = "%s\t%s\t%s\t%s\t%d\t%.2f\t%s"
	quotedLine = `"%s","%s","%s","%s",%d,%.2f,"%s"`
	jsonLine   = `{"user_id":"%s","time":"%s","programme":"%s","channel":"%s","seconds":%d,"price":%.2f,"url":"%s"}`
	// Every record has the same programme with escapes, and its own one as another member.
	escapedLine = `{"user_id":"%s","time":"%s","own":"%s","programme":"\u6f14\u5458\u7684\u8bde\u751f \ud83d\ude00","channel":"%s","seconds":%d,"price":%.2f,"url":"%s"}`
)

// perCPU reports the bytes of text per second of CPU time. Other load on the machine changes
// CPU time less than elapsed time.
func perCPU(b *testing.B, textBytes int) (done func()) {
	start := cpuTime(b)
	return func() {
		spent := cpuTime(b) - start
		b.ReportMetric(float64(textBytes)*float64(b.N)/1e6/spent.Seconds(), "MB/cpu-s")
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A counter is a sink that only counts records.
type counter struct{ kept, rejected int }

func (c *counter) Keep(*behaviour.Record) error { c.kept++; return nil }
func (c *counter) Skip(*Skipped) error          { return nil }
func (c *counter) Reject(r *Reject) error       { c.rejected++; return nil }

// BenchmarkParse measures one core that parses chunks into records.
func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name, line string
		syntax     Syntax
	}{{"csv", csvLine, CSV}, {"csv-quoted", quotedLine, CSV}, {"tsv", tsvLine, TSV}, {"jsonl", jsonLine, JSONL}, {"jsonl-escaped", escapedLine, JSONL}} {
		b.Run(c.name, func(b *testing.B) {
			text := []byte(benchText(c.line))
			p, err := NewParser(benchFormat(b, c.syntax), playFile("a"), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			defer perCPU(b, len(text))()
			b.ReportAllocs()
			for b.Loop() {
				var n counter
				if err := p.Parse(Chunk{Data: text, Line: 1}, &n); err != nil || n.kept != benchRows {
					b.Fatalf("%d records, %v", n.kept, err)
				}
			}
		})
	}
}

// BenchmarkParseSkipped measures one core that skips all records of a log with a header, and looks for a second header among them.
func BenchmarkParseSkipped(b *testing.B) {
	header := []string{"user", "time", "title", "seconds", "a", "b", "c", "d", "e", "f"}
	for name, line := range map[string]string{
		"csv":        "u1,2014-09-01 10:00:00,a title,60,u,v,w,x,y,z\n",
		"csv-quoted": `"u1","2014-09-01 10:00:00","a title","60","u","v","w","x","y","z"` + "\n",
	} {
		b.Run(name, func(b *testing.B) {
			f := plays()
			var err error
			if f.Skip, err = rule.Parse(`user == "u1"`); err != nil {
				b.Fatal(err)
			}
			p, err := NewParser(f, playFile("a"), header)
			if err != nil {
				b.Fatal(err)
			}
			p.FindHeaders(header, true)
			text := []byte(strings.Repeat(line, benchRows))
			b.SetBytes(int64(len(text)))
			defer perCPU(b, len(text))()
			for b.Loop() {
				var n counter
				if err := p.Parse(Chunk{Data: text, Line: 1}, &n); err != nil || n != (counter{}) {
					b.Fatalf("%+v, %v", n, err)
				}
			}
		})
	}
}

// BenchmarkNext measures one core that cuts a file into chunks. The bytes are the bytes of
// the text.
func BenchmarkNext(b *testing.B) {
	for _, c := range []struct{ name, line, ending, encoding string }{
		{"csv", csvLine, "", ""}, {"csv-quoted", quotedLine, "", ""}, {"gz", csvLine, ".gz", ""}, {"zst", csvLine, ".zst", ""}, {"gb18030", csvLine, "", "gb18030"},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := benchText(c.line)
			data := compressed(b, c.ending, text)
			f := benchFormat(b, CSV)
			if f.Encoding = c.encoding; c.encoding != "" {
				e, err := lookup(c.encoding)
				if err != nil {
					b.Fatal(err)
				}
				if data, err = e.NewEncoder().Bytes(data); err != nil {
					b.Fatal(err)
				}
			}
			buf := make([]byte, 0, 1<<20)
			b.SetBytes(int64(len(text)))
			defer perCPU(b, len(text))()
			for b.Loop() {
				if n := drain(b, data, "a.csv"+c.ending, f, buf); n != int64(len(text)) {
					b.Fatalf("%d bytes of %d", n, len(text))
				}
			}
		})
	}
}

// BenchmarkFile measures one core that reads, cuts and parses a compressed file.
func BenchmarkFile(b *testing.B) {
	for _, ending := range []string{"", ".gz"} {
		b.Run("csv"+ending, func(b *testing.B) {
			text := benchText(csvLine)
			data := compressed(b, ending, text)
			f := benchFormat(b, CSV)
			buf := make([]byte, 0, 1<<20)
			b.SetBytes(int64(len(text)))
			defer perCPU(b, len(text))()
			for b.Loop() {
				r, err := Open(bytes.NewReader(data), playFile("a.csv"+ending), f)
				if err != nil {
					b.Fatal(err)
				}
				p, err := NewParser(f, playFile("a.csv"+ending), r.Header())
				if err != nil {
					b.Fatal(err)
				}
				var n counter
				for {
					c, err := r.Next(buf)
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					if err := p.Parse(c, &n); err != nil {
						b.Fatal(err)
					}
				}
				if n.kept != benchRows {
					b.Fatalf("%d records", n.kept)
				}
			}
		})
	}
}

// drain reads a file to its end and returns the length of its text.
func drain(b *testing.B, data []byte, path string, f *Format, buf []byte) (n int64) {
	r, err := Open(bytes.NewReader(data), playFile(path), f)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for {
		c, err := r.Next(buf)
		if err == io.EOF {
			return n
		}
		if err != nil {
			b.Fatal(err)
		}
		n += int64(len(c.Data))
	}
}
