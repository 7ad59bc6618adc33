package e2e_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	xlocal "github.com/xitongsys/parquet-go-source/local"
	"github.com/xitongsys/parquet-go/reader"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// The sample logs, their table, and the extract of all users, which are made once.
var (
	sampleOnce   sync.Once
	sampleFailed = true
)

const sampleRecords = 20_000

var sampleTypes = []string{"play", "order", "visit", "login"}

// samples returns the folders of the logs and of the extract of everything.
func samples(t *testing.T) (logs, out string) {
	t.Helper()
	logs, out = filepath.Join(testkit.Home(), "sample-logs"), filepath.Join(testkit.Home(), "sample-out")
	sampleOnce.Do(func() {
		made, err := samplelog.Write(t.Context(), local.New(), logs, samplelog.Config{Records: sampleRecords, Users: 400, Days: 5, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		s := behaviour.Span{From: samplelog.DefaultFrom, To: samplelog.DefaultFrom + 4}
		table := filepath.Join(testkit.Home(), "sample-table")
		if got := loadJob(t, "settopbox.yaml", "../demo/logs", logs, table, s); got.Loaded != made.Records {
			t.Fatalf("loaded %d of %d sample records", got.Loaded, made.Records)
		}
		s.To++ // late records belong to the day after
		extractAll(t, table, out, s, sampleTypes, "any")
		sampleFailed = false
	})
	if sampleFailed {
		t.Fatal("the sample logs could not be made, loaded and extracted")
	}
	return logs, out
}

// A reading is the result of one reader of an extract.
type reading struct {
	Reader  string           `json:"reader"`
	Rows    int64            `json:"rows"`
	PerUser map[string]int64 `json:"per_user"`
	Seconds int64            `json:"seconds"` // sum of the column
	Price   float64          `json:"price"`   // sum of the column
	First   int64            `json:"first"`   // time, µs
	Last    int64            `json:"last"`
	Filters []int64          `json:"filters"` // number of rows for which each filter holds
}

// TestPythonAndGoReadersAgree compares the results of four Parquet readers on one extract.
// Three of them use filters, which depend on the statistics in the file.
func TestPythonAndGoReadersAgree(t *testing.T) {
	_, out := samples(t)
	want := readXitongsys(t, out)
	if want.Rows != sampleRecords {
		t.Errorf("%s read %d rows, want %d", want.Reader, want.Rows, sampleRecords)
	}
	heaviest := samplelog.Config{Records: sampleRecords, Users: 400, Seed: 7}.User(0)
	if want.PerUser[heaviest] < sampleRecords/400 {
		t.Errorf("the heaviest user %s has %d rows, fewer than the average", heaviest, want.PerUser[heaviest])
	}
	var got []reading
	python(t, &got, "readers.py", out, heaviest)
	if len(got) != 3 {
		t.Fatalf("%d readers have results, want pyarrow, DuckDB and polars", len(got))
	}
	for _, r := range got {
		if math.Abs(r.Price-want.Price) > 1e-6*math.Abs(want.Price) {
			t.Errorf("%s: sum of price %v, %s %v", r.Reader, r.Price, want.Reader, want.Price)
		}
		r.Price = want.Price
		if a, b := described(t, r), described(t, want); a != b {
			t.Errorf("%s and %s do not agree:\n%s\n%s", r.Reader, want.Reader, a, b)
		}
	}
}

// described returns a reading without its reader's name, for comparison.
func described(t *testing.T, r reading) string {
	t.Helper()
	r.Reader = ""
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A row is a row as xitongsys/parquet-go reads it; null is nil.
type row struct {
	User      string   `parquet:"name=user_id, type=BYTE_ARRAY, convertedtype=UTF8"`
	Time      int64    `parquet:"name=time, type=INT64, convertedtype=TIMESTAMP_MICROS"`
	Behaviour string   `parquet:"name=behaviour, type=BYTE_ARRAY, convertedtype=UTF8"`
	Channel   *string  `parquet:"name=channel, type=BYTE_ARRAY, convertedtype=UTF8"`
	Seconds   *int64   `parquet:"name=seconds, type=INT64"`
	Price     *float64 `parquet:"name=price, type=DOUBLE"`
	Success   *bool    `parquet:"name=success, type=BOOLEAN"`
}

// readXitongsys reads every row and filters by hand.
func readXitongsys(t *testing.T, out string) reading {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(out, "part-*.parquet"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("%s has %d parts, %v", out, len(parts), err)
	}
	heaviest := samplelog.Config{Records: sampleRecords, Users: 400, Seed: 7}.User(0)
	r := reading{Reader: "xitongsys", PerUser: map[string]int64{}, First: math.MaxInt64, Last: math.MinInt64, Filters: make([]int64, 6)}
	for _, part := range parts {
		for _, v := range readRows(t, part) {
			r.add(&v, heaviest)
		}
	}
	return r
}

func readRows(t *testing.T, part string) []row {
	t.Helper()
	f, err := xlocal.NewLocalFileReader(part)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := reader.NewParquetReader(f, new(row), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.ReadStop()
	rows := make([]row, p.GetNumRows())
	if err := p.Read(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// add counts one row, and applies the filters of testdata/readers.py.
func (r *reading) add(v *row, heaviest string) {
	r.Rows++
	r.PerUser[v.User]++
	r.First, r.Last = min(r.First, v.Time), max(r.Last, v.Time)
	if v.Seconds != nil {
		r.Seconds += *v.Seconds
	}
	if v.Price != nil {
		r.Price += *v.Price
	}
	const noon = 1409630400000000 // 2014-09-02 04:00 UTC
	for i, holds := range []bool{
		v.User == heaviest,
		v.Time >= noon,
		v.Behaviour == "order" && v.Price != nil && *v.Price > 10,
		v.Channel == nil,
		v.Success != nil && !*v.Success,
		v.User == heaviest && v.Seconds != nil && *v.Seconds < 600,
	} {
		if holds {
			r.Filters[i]++
		}
	}
}

// TestDuckDBFindsTheLoggedRows compares the extract, row by row and field by field, with the
// sample logs as DuckDB reads them.
func TestDuckDBFindsTheLoggedRows(t *testing.T) {
	logs, out := samples(t)
	var got struct {
		Logged, Extracted, OnlyLogged, OnlyExtracted, OutOfOrder int64
	}
	python(t, &got, "rows.py", logs, out)
	if got.Logged != sampleRecords || got.Extracted != sampleRecords || got.OnlyLogged != 0 || got.OnlyExtracted != 0 {
		t.Errorf("%d rows logged, %d extracted, %d only logged, %d only extracted; want %d, %[5]d, 0, 0",
			got.Logged, got.Extracted, got.OnlyLogged, got.OnlyExtracted, sampleRecords)
	}
	if got.OutOfOrder != 0 {
		t.Errorf("%d rows stand before one of a lesser user, time, behaviour or id", got.OutOfOrder)
	}
}

// TestSameLogsGiveTheSameBytes loads the sample logs at once, and day by day with the last
// day first, and compares the extracts.
func TestSameLogsGiveTheSameBytes(t *testing.T) {
	logs, out := samples(t)
	table, again := filepath.Join(t.TempDir(), "table"), filepath.Join(t.TempDir(), "out")
	s := behaviour.Span{From: samplelog.DefaultFrom, To: samplelog.DefaultFrom + 5}
	for d := s.To - 1; d >= s.From; d-- {
		loadJob(t, "settopbox.yaml", "../demo/logs", logs, table, behaviour.Span{From: d, To: d})
	}
	extractAll(t, table, again, s, sampleTypes, "any")
	parts, err := filepath.Glob(filepath.Join(out, "part-*.parquet"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for _, part := range parts {
		one, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.ReadFile(filepath.Join(again, filepath.Base(part)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one, other) {
			t.Errorf("%s depends on the order of the loads", filepath.Base(part))
		}
	}
}
