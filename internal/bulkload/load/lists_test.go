package load_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
)

// TestFilesMustFitIntoMemory loads the files of two days. The memory is enough for the files of one day.
func TestFilesMustFitIntoMemory(t *testing.T) {
	const each = 2800
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	for i := range each {
		for _, day := range []string{"2014-09-01", "2014-09-02"} {
			y.Write(fmt.Sprintf("%s/play.%d", day, i), fmt.Sprintf("%s%d,%s 10:00:00,one,1\n", bulkloadtest.Header, i, day))
		}
	}
	cfg := y.Config("2014-09-01", "2014-09-02")
	cfg.Memory = 64 << 20
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(fmt.Sprint(err), "5,600 files would be loaded, and --memory 64 MiB is enough for 5,242: load fewer days at once, or raise --memory to 128 MiB") {
			t.Errorf("%s: %v; want to read how many files fit", what, err)
		}
	}
	checks, _, err := load.PreCheck(t.Context(), cfg)
	if i := slices.IndexFunc(checks, func(c precheck.Check) bool { return c.Name == precheck.InputReadable }); err != nil || i < 0 {
		t.Errorf("pre-check: %+v, %v", checks, err)
	} else {
		refused("pre-check", checks[i].Err)
	}
	_, err = load.DryRun(t.Context(), cfg)
	refused("dry run", err)
	r, err := load.Run(t.Context(), cfg)
	refused("load", err)
	if r.Files > 0 {
		t.Errorf("%+v; want no file to be loaded", r)
	}
	one := cfg
	one.Span.To = one.Span.From
	if r, err := load.Run(t.Context(), one); err != nil || r.Loaded != each {
		t.Fatalf("one day: %+v, %v", r, err)
	}
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded != each || r.Already != each {
		t.Errorf("the other day: %+v, %v; want the files of the first day not to count", r, err)
	}
}

// TestDaysMustFitIntoMemory loads records of so many days and behaviours that the memory is not enough for their sums.
func TestDaysMustFitIntoMemory(t *testing.T) {
	const kinds, days = 450, 300
	var job, log strings.Builder
	job.WriteString("logs: {path: \"logs/*.csv\", behaviour: kind}\nuser: user\nbehaviours:\n")
	log.WriteString("user,time,kind\n")
	for kind := range kinds {
		fmt.Fprintf(&job, "  k%d: {id: %d}\n", kind, kind+1)
		for day := range days {
			fmt.Fprintf(&log, "%d,%s 10:00:00,k%d\n", kind%7, time.Date(2014, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), kind)
		}
	}
	y := bulkloadtest.New(t, job.String())
	y.Write("all.csv", log.String())
	cfg := y.Config("2014-01-01", "2014-12-31")
	cfg.Memory = 64 << 20
	r, err := load.Run(t.Context(), cfg)
	if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(fmt.Sprint(err), "days, counted for each behaviour and for each log without a day in its path, and --memory 64 MiB is not enough for them: load fewer days at once, or raise --memory") {
		t.Errorf("%+v, %v; want the load to be refused", r, err)
	}
	if _, err := y.Store.Open(t.Context()); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("%v; want no load in the table", err)
	}
	cfg.Memory = 256 << 20
	if r, err := load.Run(t.Context(), cfg); err != nil || r.Loaded != kinds*days {
		t.Errorf("with more memory: %+v, %v; want all records", r, err)
	}
}
