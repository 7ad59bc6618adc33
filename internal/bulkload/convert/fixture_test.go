package convert_test

import (
	"context"
	"errors"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// A fixture is a directory with the logs of a generated world, and with tables.
type fixture struct {
	testtable.Fixture
	w *testworld.W
}

func newFixture(t testing.TB, w *testworld.W) *fixture {
	t.Helper()
	h := &fixture{*testtable.New(t, w.Job()), w}
	h.Job.Table.Regions = 3
	return h
}

// config returns the configuration of a load into a table with the given layout.
func (h *fixture) config(name, layout string) load.Config {
	j := *h.Job
	j.Layout = layout
	c := h.LoadConfig(name, h.w.Span)
	c.Job = &j
	return c
}

func (h *fixture) loads(ctx context.Context, name, layout string) (bulkload.Result, error) {
	return load.Run(ctx, h.config(name, layout))
}

// load loads the delivered files that the table does not have yet.
func (h *fixture) load(t testing.TB, name, layout string) bulkload.Result {
	t.Helper()
	r, err := h.loads(t.Context(), name, layout)
	skipped := errors.As(err, new(*target.SkippedAllError)) // the night has only records of dropped days
	if err != nil && !skipped && !errors.Is(err, bulkload.ErrNothing) {
		t.Fatal(err)
	}
	return r
}

// lasting returns the visible files of a table, without its lock and the files that Lock
// removes.
func (h *fixture) lasting(t testing.TB, name string) map[string]string {
	t.Helper()
	return h.Lasting(t, name, "loading.json")
}

func isNothing(err error) bool {
	return errors.Is(err, bulkload.ErrNothing) || errors.Is(err, upkeep.ErrNothing)
}
