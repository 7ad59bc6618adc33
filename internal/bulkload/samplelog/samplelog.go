// Package samplelog generates the logs of a set-top-box service, for the demo, the benchmarks
// and users who want to try usertrail without their own data. It is not part of the data
// flow: its output is the input of a job.
//
//	DIR/{date}/{behaviour}.csv     also .csv.gz and .csv.zst
//
//	play    user_id,time,programme,channel,seconds,url
//	order   user_id,time,product,price,quantity,note
//	visit   user_id,time,page,referrer,duration
//	login   user_id,time,device,ip,success
//
// Files are csv by RFC 4180 with a header. Times are local in Asia/Shanghai, "2006-01-02
// 15:04:05". A file covers its day in order, with most records in the evening. Few users are
// heavy and many are light, and heavy users have more kinds of behaviour. Some fields are
// empty. Some are quoted because they contain commas, quotes and newlines. A few records at
// the end of a file are after midnight and belong to the next day. With Config.Bad some lines
// are bad, each in one of the ways that occur in delivered logs. With Config.Each all users
// have equally many records, and with Config.Numeric their IDs are numbers.
//
// The same Config gives the same bytes (before compression) for any number of Workers,
// because every file has its own source of randomness. Memory does not depend on the amount
// of output.
package samplelog

import (
	"context"
	"fmt"
	"path"
	"runtime"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
)

// Zone is the zone of the service. The times in the logs are local there.
const Zone = "Asia/Shanghai"

// DefaultBad is the share of bad lines for a demonstration.
const DefaultBad = 0.0005

// DefaultFrom is the default first day of the logs.
const DefaultFrom behaviour.Date = 16314 // 2014-09-01

// Config describes the logs to generate. A zero field means the default in its comment.
type Config struct {
	Records  int64          // lines of all files, without headers, with bad lines; 100,000
	Users    int            // Records/50, at least 1; with Each as many as needed
	Each     int            // records of each user, of any kind; the last users may have one less. If 0, few users are heavy
	From     behaviour.Date // DefaultFrom
	Days     int            // 10
	Seed     uint64
	Bad      float64 // share of lines that are bad; none
	Compress string  // "gz" or "zst"; no compression
	Numeric  bool    // users are numbers of eight digits that do not begin with zero
	Wide     bool    // longer addresses: about 205 bytes per record instead of 147
	Workers  int     // number of files that are written at the same time; the number of cores
}

// A Summary describes the output.
type Summary struct {
	Files   int   `json:"files"`
	Records int64 `json:"records"` // bad records included
	Bad     int64 `json:"bad"`
	Late    int64 `json:"late"`  // good records that belong to the day after their file's
	Bytes   int64 `json:"bytes"` // before compression
}

// Counted implements outcome.Result.
func (s Summary) Counted() outcome.Counts {
	return outcome.Counts{outcome.Files: float64(s.Files), outcome.Records: float64(s.Records), outcome.Bytes: float64(s.Bytes)}
}

// Write writes the logs of cfg below dir. It replaces files of the same name and does not
// touch others. After an error, finished files remain.
func Write(ctx context.Context, fs dfs.FS, dir string, cfg Config) (Summary, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return Summary{}, err
	}
	files := plan(cfg)
	parts := make([]Summary, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cfg.Workers)
	for i, f := range files {
		g.Go(func() error {
			name := dir + "/" + f.name(cfg.Compress)
			var err error
			if parts[i], err = writeFile(ctx, fs, name, f, cfg); err != nil {
				return fmt.Errorf("samplelog: write %s: %w", name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return Summary{}, err
	}
	var sum Summary
	for _, p := range parts {
		sum.add(p)
	}
	return sum, nil
}

// User returns the ID of one of cfg's users; 0 is the heaviest of them.
func (c Config) User(rank int) string {
	return string(newPopulation(c).appendID(nil, rank))
}

// complete fills in defaults and returns an error for impossible values.
func (c Config) complete() (Config, error) {
	if c.Records == 0 {
		c.Records = 100_000
	}
	if c.Each > 0 && c.Users == 0 && c.Records > 0 {
		c.Users = int(min((c.Records-1)/int64(c.Each)+1, maxUsers))
	}
	if c.Users == 0 {
		c.Users = int(min(max(c.Records/50, 1), maxUsers))
	}
	if c.From == 0 {
		c.From = DefaultFrom
	}
	if c.Days == 0 {
		c.Days = 10
	}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case c.Records < 0:
		return c, fmt.Errorf("samplelog: %d records: not a number of records", c.Records)
	case c.Users < 0 || c.Users > c.mostUsers():
		return c, fmt.Errorf("samplelog: %d users: not in 1..%d", c.Users, c.mostUsers())
	case c.Each < 0:
		return c, fmt.Errorf("samplelog: %d records of each user: at least 1", c.Each)
	case c.Each > 0 && (c.Records-1)/int64(c.Each)+1 != int64(c.Users):
		return c, fmt.Errorf("samplelog: %d records of each user are not %d of %d users: leave out how many users", c.Each, c.Records, c.Users)
	case c.Days < 0 || c.Days > 3660:
		return c, fmt.Errorf("samplelog: %d days: not in 1..3660", c.Days)
	case c.From < behaviour.MinDate || c.From > behaviour.MaxDate-behaviour.Date(c.Days):
		return c, fmt.Errorf("samplelog: %d days from %s: beyond the calendar", c.Days, c.From)
	case !(c.Bad >= 0 && c.Bad <= 1):
		return c, fmt.Errorf("samplelog: %v of the lines bad: not a share of 0 to 1", c.Bad)
	case c.Compress != "" && c.Compress != "gz" && c.Compress != "zst":
		return c, fmt.Errorf("samplelog: compression %q: only gz and zst", c.Compress)
	}
	return c, nil
}

func (c *Config) mostUsers() int {
	if c.Numeric {
		return numbers
	}
	return maxUsers
}

func (s *Summary) add(o Summary) {
	s.Files += o.Files
	s.Records += o.Records
	s.Bad += o.Bad
	s.Late += o.Late
	s.Bytes += o.Bytes
}

// name returns the path of f below the logs' folder.
func (f file) name(compress string) string {
	name := path.Join(f.date.String(), kinds[f.kind].name+".csv")
	if compress != "" {
		name += "." + compress
	}
	return name
}
