package samplelog_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/store/dfs/local"
)

// write generates logs in a new folder.
func write(t *testing.T, cfg samplelog.Config) (string, samplelog.Summary) {
	t.Helper()
	dir := t.TempDir()
	sum, err := samplelog.Write(t.Context(), local.New(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return dir, sum
}

// texts returns the decompressed files below dir, by path below dir.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var r io.Reader = f
		switch filepath.Ext(path) {
		case ".gz":
			if r, err = gzip.NewReader(f); err != nil {
				return err
			}
		case ".zst":
			z, err := zstd.NewReader(f)
			if err != nil {
				return err
			}
			defer z.Close()
			r = z
		}
		b, err := io.ReadAll(r)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// records cuts a file by RFC 4180 into its records, without the header.
func records(t *testing.T, name, text string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows[1:]
}

func TestOneSeedOneText(t *testing.T) {
	cfg := samplelog.Config{Records: 5000, Users: 200, Days: 3, Seed: 7, Bad: 0.01, Workers: 1}
	dir, sum := write(t, cfg)
	want := texts(t, dir)

	for _, turn := range []func(*samplelog.Config){
		func(c *samplelog.Config) { c.Workers = 8 },
		func(c *samplelog.Config) { c.Compress = "gz" },
		func(c *samplelog.Config) { c.Compress = "zst" },
	} {
		turned := cfg
		turn(&turned)
		dir, again := write(t, turned)
		got := map[string]string{}
		for name, text := range texts(t, dir) {
			got[strings.TrimSuffix(name, "."+turned.Compress)] = text
		}
		if !maps.Equal(got, want) || again != sum {
			t.Errorf("%+v gave other logs than %+v: %+v, want %+v", turned, cfg, again, sum)
		}
	}

	cfg.Seed = 8
	dir, _ = write(t, cfg)
	if maps.Equal(texts(t, dir), want) {
		t.Error("two seeds gave the same logs")
	}
}

func TestSummaryCountsWhatIsThere(t *testing.T) {
	for _, cfg := range []samplelog.Config{
		{},
		{Records: 1},
		{Records: 12_347, Users: 1, Days: 4, Bad: 0.2},
		{Records: 3001, Users: 5000, Days: 1, Bad: 1},
		{Records: 4000, Days: 2, Wide: true},
	} {
		dir, sum := write(t, cfg)
		var n, size int64
		files := texts(t, dir)
		for name, text := range files {
			size += int64(len(text))
			n += int64(len(records(t, name, text)))
		}
		if n != sum.Records || size != sum.Bytes || len(files) != sum.Files {
			t.Errorf("%+v: %d records, %d bytes, %d files, but the summary says %+v", cfg, n, size, len(files), sum)
		}
		if cfg.Records > 0 && sum.Records != cfg.Records {
			t.Errorf("asked for %d records, got %d", cfg.Records, sum.Records)
		}
		if cfg.Bad == 1 && sum.Bad != sum.Records {
			t.Errorf("all lines should be bad, %d of %d are", sum.Bad, sum.Records)
		}
	}
}

// TestUsersAreAlike checks that each user has equally many records, and a number as ID.
func TestUsersAreAlike(t *testing.T) {
	for _, of := range []struct {
		cfg           samplelog.Config
		users, fewest int
	}{
		{samplelog.Config{Records: 5000, Each: 100}, 50, 100},
		{samplelog.Config{Records: 1003, Each: 1, Days: 3}, 1003, 1},
		{samplelog.Config{Records: 1003, Each: 10, Days: 3, Workers: 3}, 101, 9},
		{samplelog.Config{Records: 900, Each: 1000}, 1, 900},
	} {
		of.cfg.Numeric = true
		dir, sum := write(t, of.cfg)
		got := map[string]int{}
		for name, text := range texts(t, dir) {
			for _, r := range records(t, name, text) {
				n, err := strconv.Atoi(r[0])
				if err != nil || n < 10_000_000 || n > 99_999_999 {
					t.Fatalf("%s: user %q is no number of eight digits", name, r[0])
				}
				got[r[0]]++
			}
		}
		if len(got) != of.users || sum.Records != of.cfg.Records {
			t.Errorf("%+v made %d records of %d users, want %d of %d", of.cfg, sum.Records, len(got), of.cfg.Records, of.users)
		}
		for user, n := range got {
			if n < of.fewest || n > of.cfg.Each {
				t.Errorf("%+v: user %s has %d records, want %d or one less", of.cfg, user, n, of.cfg.Each)
			}
		}
	}
}

// TestAlikeUsersDoAllKinds checks that the choice of the next user does not depend on the
// file.
func TestAlikeUsersDoAllKinds(t *testing.T) {
	dir, _ := write(t, samplelog.Config{Records: 20_000, Each: 100})
	kinds := map[string]map[string]bool{}
	for name, text := range texts(t, dir) {
		for _, r := range records(t, name, text) {
			if kinds[r[0]] == nil {
				kinds[r[0]] = map[string]bool{}
			}
			kinds[r[0]][filepath.Base(name)] = true
		}
	}
	all := 0
	for _, did := range kinds {
		if len(did) == 4 {
			all++
		}
	}
	if all < 190 {
		t.Errorf("%d of %d users did everything, want nearly all", all, len(kinds))
	}
}

// TestGoodLinesAreGood reads logs without bad lines with a strict reader. It checks that they
// contain nulls, quotes, newlines and late records.
func TestGoodLinesAreGood(t *testing.T) {
	dir, sum := write(t, samplelog.Config{Records: 60_000, Days: 4})
	seen := map[string]int{}
	for name, text := range texts(t, dir) {
		date, kind := strings.Split(name, "/")[0], strings.TrimSuffix(strings.Split(name, "/")[1], ".csv")
		if !utf8.ValidString(text) {
			t.Errorf("%s is not UTF-8", name)
		}
		for i, r := range records(t, name, text) {
			if why := flaw(kind, r); why != "" {
				t.Fatalf("%s: record %d, %q: %s", name, i, r, why)
			}
			look(seen, date, r)
		}
	}
	for _, what := range []string{"null", "comma", "quote", "newline", "late"} {
		if seen[what] == 0 {
			t.Errorf("there is no record with %s among %d", what, sum.Records)
		}
	}
	if int64(seen["late"]) != sum.Late {
		t.Errorf("%d records of the next day, the summary says %d", seen["late"], sum.Late)
	}
}

// flaw returns the mistake in a record, or "".
func flaw(kind string, r []string) string {
	width, typed := 5, 4
	switch kind {
	case "play":
		width, typed = 6, 4
	case "order":
		width, typed = 6, 3
	}
	if len(r) != width {
		return "width"
	}
	if r[0] == "" || len(r[0]) > behaviour.MaxUserLen {
		return "user"
	}
	if _, err := time.Parse(time.DateTime, r[1]); err != nil {
		return err.Error()
	}
	var err error
	switch kind {
	case "order":
		if _, err = strconv.ParseFloat(r[3], 64); err == nil {
			_, err = strconv.Atoi(r[4])
		}
	case "login":
		_, err = strconv.ParseBool(r[typed])
	default:
		if r[typed] != "" {
			_, err = strconv.Atoi(r[typed])
		}
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func look(seen map[string]int, date string, r []string) {
	if !strings.HasPrefix(r[1], date) {
		seen["late"]++
	}
	for _, f := range r {
		for what, mark := range map[string]string{"comma": ",", "quote": `"`, "newline": "\n"} {
			if strings.Contains(f, mark) {
				seen[what]++
			}
		}
		if f == "" {
			seen["null"]++
		}
	}
}

func TestBadLinesAreBadInEveryWay(t *testing.T) {
	dir, sum := write(t, samplelog.Config{Records: 2000, Days: 2, Bad: 1})
	ways := map[string]int{}
	for name, text := range texts(t, dir) {
		kind := strings.TrimSuffix(filepath.Base(name), ".csv")
		for i, r := range records(t, name, text) {
			why := flaw(kind, r)
			if why == "" && !utf8.ValidString(r[0]) {
				why = "utf-8"
			}
			if why == "" {
				t.Errorf("%s: record %d, %q, is not bad", name, i, r)
			}
			if strings.Contains(why, "parsing time") {
				why = "time"
			}
			if strings.Contains(why, `parsing "n/a"`) {
				why = "type"
			}
			ways[why]++
		}
	}
	for _, way := range []string{"width", "user", "time", "type", "utf-8"} {
		if ways[way] == 0 {
			t.Errorf("of %d bad lines, none for its %s: %v", sum.Bad, way, ways)
		}
	}
}

func TestUsersAreSkewed(t *testing.T) {
	cfg := samplelog.Config{Records: 100_000, Users: 2000}
	dir, sum := write(t, cfg)
	did := map[string]map[string]int{}
	for name, text := range texts(t, dir) {
		for _, r := range records(t, name, text) {
			if did[r[0]] == nil {
				did[r[0]] = map[string]int{}
			}
			did[r[0]][filepath.Base(name)]++
		}
	}
	var of []int
	kinds := map[string]int{}
	allFour := 0
	for _, by := range did {
		n := 0
		for kind, times := range by {
			n += times
			kinds[kind]++
		}
		of = append(of, n)
		if len(by) == 4 {
			allFour++
		}
	}
	slices.Sort(of)
	slices.Reverse(of)
	top := 0
	for _, n := range of[:20] {
		top += n
	}
	// One user in a hundred should have a tenth of the records, and the median user fewer
	// than the average.
	if share := float64(top) / float64(sum.Records); share < 0.07 || share > 0.2 {
		t.Errorf("the heaviest hundredth of users has %.1f %% of records, want about 10", 100*share)
	}
	if of[len(of)/2] >= 50 {
		t.Errorf("the middle user has %d records, want fewer than the average, 50", of[len(of)/2])
	}
	for kind, want := range map[string]float64{"play.csv": 0.9, "visit.csv": 0.8, "login.csv": 0.6, "order.csv": 0.25} {
		if got := float64(kinds[kind]) / float64(cfg.Users); got < want-0.1 || got > want+0.1 {
			t.Errorf("%.0f %% of users are in %s, want about %.0f", 100*got, kind, 100*want)
		}
	}
	if allFour == 0 || allFour > cfg.Users/2 {
		t.Errorf("%d of %d users did all four behaviours", allFour, cfg.Users)
	}
}

func TestNoTwoUsersHaveOneID(t *testing.T) {
	cfg := samplelog.Config{Users: 200_000, Seed: 3}
	rank := make(map[string]int, cfg.Users)
	for i := range cfg.Users {
		id := cfg.User(i)
		if j, ok := rank[id]; ok {
			t.Fatalf("users %d and %d are both %s", j, i, id)
		}
		rank[id] = i
	}
}

func TestTimesGoForward(t *testing.T) {
	dir, _ := write(t, samplelog.Config{Records: 20_000, Days: 1})
	for name, text := range texts(t, dir) {
		var last time.Time
		for _, r := range records(t, name, text) {
			at, err := time.Parse(time.DateTime, r[1])
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(r[1], name[:10]) {
				continue // already after midnight
			}
			if at.Before(last.Add(-time.Minute)) {
				t.Fatalf("%s goes back from %s to %s", name, last, at)
			}
			if at.After(last) {
				last = at
			}
		}
	}
}

func TestConfigThatCannotBeIsRefused(t *testing.T) {
	for want, cfg := range map[string]samplelog.Config{
		"-1 records":        {Records: -1},
		"-5 users":          {Users: -5},
		"-1 days":           {Days: -1},
		"beyond the cal":    {From: behaviour.MaxDate},
		"not a share":       {Bad: 1.5},
		`compression "bz2"`: {Compress: "bz2"},
	} {
		dir := t.TempDir()
		_, err := samplelog.Write(t.Context(), local.New(), dir, cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an error with %q", cfg, err, want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%+v was refused and left %v", cfg, left)
		}
	}
}

func TestCancelledLeavesNoFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	_, err := samplelog.Write(ctx, local.New(), dir, samplelog.Config{Records: 1000})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if files := texts(t, dir); len(files) > 0 {
		t.Errorf("left %d files", len(files))
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, cfg := range map[string]samplelog.Config{
		"records=1e6":      {Records: 1_000_000, Workers: 1},
		"records=1e6/wide": {Records: 1_000_000, Workers: 1, Wide: true},
		"records=1e6/gz":   {Records: 1_000_000, Workers: 1, Compress: "gz"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sum, err := samplelog.Write(b.Context(), local.New(), b.TempDir(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(sum.Bytes)
				b.ReportMetric(float64(sum.Bytes)/float64(sum.Records), "B/record")
			}
			b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func ExampleConfig_User() {
	cfg := samplelog.Config{Users: 1000, Seed: 1}
	for rank := range 4 {
		fmt.Println(cfg.User(rank))
	}
	// Output:
	// 2231128547
	// 5372721200
	// 8514313853
	// 505a5bf27202
}
