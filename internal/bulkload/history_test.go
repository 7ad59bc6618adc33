package bulkload

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// described is a table of which only the manifest is known.
type described struct {
	table.Table
	m *manifest.Table
}

// Manifest implements table.Described.
func (d described) Manifest() *manifest.Table { return d.m }

// Info implements table.Table.
func (d described) Info() table.Info { return table.Info{Address: "trails"} }

// TestTheHistoryFitsIntoTheMemory checks which ledgers are warned of and refused, and that the memory in the advice is enough.
func TestTheHistoryFitsIntoTheMemory(t *testing.T) {
	loads := func(loads, files int64) (out []manifest.LoadRef) {
		for range loads {
			out = append(out, manifest.LoadRef{Files: files, Days: 1, Size: 1 << 30}) // entries of files differ in size
		}
		return out
	}
	for _, c := range []struct {
		loads  []manifest.LoadRef
		memory int64
		warns  bool
		wants  string // in the error
	}{
		{nil, 64 << 20, false, ""},
		{loads(300, 1), 64 << 20, false, ""},
		{loads(3, 3700), 64 << 20, false, ""},
		{loads(3, 3900), 64 << 20, true, ""},
		{loads(3, 5000), 64 << 20, true, ""},
		{loads(4, 5000), 64 << 20, false, "the ledgers of trails have 20,000 delivered files and 4 days, counted for each behaviour, and --memory 64 MiB is not enough for them: raise --memory to 256 MiB"},
		{loads(4, 5000), 256 << 20, false, ""},
		{loads(60, 5000), 1 << 30, true, ""},
		{loads(70, 5000), 1 << 30, false, "350,000 delivered files and 70 days, counted for each behaviour, and --memory 1.0 GiB is not enough for them: raise --memory to 2.0 GiB"},
		{[]manifest.LoadRef{{Files: 1, Days: 45_000}}, 64 << 20, false, ""},
		{[]manifest.LoadRef{{Files: 1, Days: 60_000}}, 64 << 20, true, ""},
		{[]manifest.LoadRef{{Files: 2, Days: 40_000}, {Files: 1, Days: 26_000}}, 64 << 20, false, "have 3 delivered files and 66,000 days, counted for each behaviour, and --memory 64 MiB is not enough for them: raise --memory to 256 MiB"},
		{[]manifest.LoadRef{{Size: 1 << 40}}, 64 << 20, false, ""}, // of an older version
	} {
		var said strings.Builder
		err := fitHistory(c.memory, described{m: &manifest.Table{Loads: c.loads}}, slog.New(slog.NewTextHandler(&said, nil)))
		if (err != nil) != (c.wants != "") || err != nil && (!errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), c.wants)) {
			t.Errorf("%d loads of %+v with %d bytes: %v, want %q", len(c.loads), c.loads[:min(len(c.loads), 1)], c.memory, err, c.wants)
		}
		if warned := said.Len() > 0; warned != c.warns {
			t.Errorf("%d loads of %+v with %d bytes: %q, want a warning: %v", len(c.loads), c.loads[:min(len(c.loads), 1)], c.memory, said.String(), c.warns)
		}
	}
}
