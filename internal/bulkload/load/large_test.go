package load_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/precheck"
)

// TestLargeRecordsAreLoadedOnce loads records that are larger than the memory in which the records of a row are held, in each
// layout. The table has the cells of a load with much memory.
func TestLargeRecordsAreLoadedOnce(t *testing.T) {
	text := "user,time,title,seconds\n"
	for i := range 4 {
		text += fmt.Sprintf("%d,2014-09-01 10:00:00,%s,%d\n", 10+i, strings.Repeat(fmt.Sprint(i), 300_000), i)
	}
	for _, name := range layout.Names() {
		var want []string
		for _, memory := range []int64{4 << 30, 16 << 20} {
			y := bulkloadtest.New(t, bulkloadtest.LaidOut(name))
			y.Write("2014-09-01/play.csv", text)
			cfg := y.Config("2014-09-01", "2014-09-01")
			cfg.Memory, cfg.Workers = memory, 2
			if r, err := load.Run(context.WithoutCancel(t.Context()), cfg); err != nil || r.Loaded != 4 {
				t.Fatalf("%s: %+v, %v", name, r, err)
			}
			if r, err := verify.Run(t.Context(), verify.Config{Store: y.Store}); err != nil {
				t.Errorf("%s: verify: %v: %+v", name, err, r)
			}
			got := y.Cells()
			if want == nil {
				want = got
			} else if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: with little memory there are %d cells, with much %d", name, len(got), len(want))
			}
			if n := len(y.Trails(true)); n != 4 {
				t.Errorf("%s: %d events, want 4", name, n)
			}
		}
	}
}

// TestRecordsMustFitIntoMemory loads a record that is too large for the memory of a worker, next to a file of small records. The
// load names the record and its file, and loads the other file. With more memory, and with a smaller max_line, the record
// is no fault of the load.
func TestRecordsMustFitIntoMemory(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.LongLines("64MiB"))
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 10:00:00,"+strings.Repeat("x", 3<<20)+",1\n")
	y.Write("2014-09-02/play.csv", "user,time,title,seconds\na,2014-09-02 10:00:00,two,1\n")
	cfg := y.Config("2014-09-01", "2014-09-02")
	cfg.Memory, cfg.Workers = 64<<20, 2
	checks, _, err := load.PreCheck(t.Context(), cfg)
	i := slices.IndexFunc(checks, func(c precheck.Check) bool { return c.Name == precheck.RecordsParse })
	if err != nil || i < 0 || !errors.Is(checks[i].Err, bulkload.ErrRequest) || !strings.Contains(checks[i].Err.Error(), "2014-09-01/play.csv: record at byte 52: ") {
		t.Errorf("pre-check: %+v, %v; want the place of the large record", checks, err)
	}
	r, err := load.Run(t.Context(), cfg)
	if !errors.Is(err, bulkload.ErrRequest) || r.Loaded != 1 || len(r.Failed) != 1 {
		t.Fatalf("%+v, %v; want the file of the small record alone to be loaded", r, err)
	}
	for _, want := range []string{"2014-09-01/play.csv: record at byte 52: ", "more than 1048576 bytes", "--memory", "max_line"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
	y.WantTrails("a 2014-09-02 2014-09-02T10:00:00Z play title=two seconds=1")
	cfg.Memory = 1 << 30
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded != 2 {
		t.Errorf("with more memory %+v, %v; want the two records", r, err)
	}
	y.Write("2014-09-03/play.csv", "user,time,title,seconds\na,2014-09-03 10:00:00,two,1\nb,2014-09-03 10:00:00,"+strings.Repeat("x", 3<<20)+",1\n")
	y.SetJob(bulkloadtest.LongLines("1MiB"))
	cfg = y.Config("2014-09-03", "2014-09-03")
	cfg.Memory = 64 << 20
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded != 1 || r.Quarantined != 1 {
		t.Errorf("with a smaller max_line %+v, %v; want the record to be bad", r, err)
	}
}

// TestFieldsMustFitIntoMemory loads a record of which three fields have the same large column, next to a file of small records.
// The load names the record and its file, and loads the other file.
func TestFieldsMustFitIntoMemory(t *testing.T) {
	job := strings.Replace(bulkloadtest.TwoKinds, "title: string", "title: string, again: {type: string, column: title}, thrice: {type: string, column: title}", 1)
	if job == bulkloadtest.TwoKinds {
		t.Fatal("the job has no field called title")
	}
	y := bulkloadtest.New(t, job)
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 10:00:00,"+strings.Repeat("x", 1_000_000)+",1\n")
	y.Write("2014-09-02/play.csv", "user,time,title,seconds\na,2014-09-02 10:00:00,two,1\n")
	cfg := y.Config("2014-09-01", "2014-09-02")
	cfg.Memory, cfg.Workers = 64<<20, 2
	r, err := load.Run(t.Context(), cfg)
	if !errors.Is(err, bulkload.ErrRequest) || r.Loaded != 1 || len(r.Failed) != 1 {
		t.Fatalf("%+v, %v; want the file of the small record alone to be loaded", r, err)
	}
	for _, want := range []string{"2014-09-01/play.csv: record at byte 52: ", "its fields have more than 2097152 bytes", "--memory"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
	cfg.Memory = 1 << 30
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded != 2 {
		t.Errorf("with more memory %+v, %v; want the two records", r, err)
	}
	if n := len(y.Trails(true)); n != 3 {
		t.Errorf("%d events, want 3", n)
	}
}

// TestWindowsMustFitIntoMemory loads zstd files at the same time, each with the largest window that the memory allows, and
// one with a larger window. The load names the file and what to do, and loads the others.
func TestWindowsMustFitIntoMemory(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	days := []string{"2014-09-01", "2014-09-02", "2014-09-03", "2014-09-04"}
	const records = 20_000
	for i, day := range days {
		window := 8 << 20
		if i == 2 {
			window = 16 << 20
		}
		var text strings.Builder
		text.WriteString("user,time,title,seconds\n")
		for k := range records {
			fmt.Fprintf(&text, "u%d,%s 10:00:00,title number %d of the day,%d\n", k%1000, day, k, k)
		}
		y.Write(day+"/play.csv.zst", packed(t, text.String(), window))
	}
	cfg := y.Config(days[0], days[3])
	cfg.Memory, cfg.Workers = 64<<20, 4
	r, err := load.Run(t.Context(), cfg)
	if !errors.Is(err, bulkload.ErrRequest) || r.Loaded != 3*records || len(r.Failed) != 1 {
		t.Fatalf("%+v, %v; want three files to be loaded", r, err)
	}
	for _, want := range []string{"2014-09-03/play.csv.zst", "16 MiB", "at most 8.0 MiB", "--memory", "8 times"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
	cfg = y.Config(days[0], days[3])
	cfg.Memory = 8 * 16 << 20
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded != records {
		t.Errorf("with the memory that the message names: %+v, %v", r, err)
	}
}

// packed compresses a text by zstd with a window in bytes.
func packed(t *testing.T, text string, window int) string {
	t.Helper()
	var b strings.Builder
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(window))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
