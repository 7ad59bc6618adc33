package convert_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/convert"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// fat returns a fixture with a table of one behaviour. One user has the given number of records
// of the given size on one day. The table has one user before and one user after this user.
func fat(t *testing.T, layout string, records, size int) *fixture {
	t.Helper()
	day := behaviour.DateOf(2014, 9, 1)
	h := &fixture{*testtable.New(t, testtable.FatJob(layout)), &testworld.W{Span: behaviour.Span{From: day, To: day}}}
	h.Deliver(t, testtable.FatLog(day, 1, records, size))
	c := h.config("table", layout)
	c.Memory = 1 << 30
	if _, err := load.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestLargeRowsAreConvertedInLittleMemory converts a user whose records of a day are one row in
// most layouts. It does so with little and with much memory. The heap must stay small, and the
// tables must be equal.
func TestLargeRowsAreConvertedInLittleMemory(t *testing.T) {
	some := map[string][]string{"reversed": {"wide"}, "wide": {"hashed"}, "hashed": {"reversed"}, "tall": {"wide"}}
	for from, to := range testkit.Pick(some, map[string][]string{"reversed": layout.Names(), "wide": layout.Names(), "hashed": layout.Names(), "tall": layout.Names()}) {
		h := fat(t, from, 1200, 10<<10)
		for _, to := range to {
			if to == "fixed" {
				to = "fixed/1"
			}
			if to != from {
				h.convertWithin(t, from, to, 4<<20, 8<<20)
			}
		}
	}
}

// convertWithin converts with 256 MiB of memory and then with the given bytes of memory. Both
// must make the same files. The second conversion's heap may grow by memory and besides
// together. besides is the memory that the process needs in addition.
func (h *fixture) convertWithin(t *testing.T, from, to string, memory, besides int64) {
	t.Helper()
	var want map[string]string
	for _, given := range []int64{256 << 20, memory} {
		heap := dfstest.NewHeap(h.FS)
		c := h.conversion("table", to, "out")
		out := h.Store("out")
		out.FS = heap
		c.FS, c.Out, c.Memory, c.Workers = heap, out, given, 1
		r, err := convert.Run(t.Context(), c)
		if err != nil || r.Records < 1000 {
			t.Fatalf("%s to %s in %d bytes: %+v, %v", from, to, given, r, err)
		}
		if n := heap.Grown(); given == memory && n > memory+besides {
			t.Errorf("%s to %s: the heap has %d MiB more than before, in %d MiB of memory", from, to, n>>20, memory>>20)
		}
		got := h.lasting(t, "out")
		if want != nil && !maps.Equal(got, want) {
			t.Errorf("%s to %s: a conversion in little memory makes other files", from, to)
		}
		want = got
		if left := dfstest.Snapshot(t, h.FS, c.Temp); len(left) > 0 {
			t.Errorf("%s to %s: %d files are left in %s", from, to, len(left), c.Temp)
		}
		h.remove(t, "out")
	}
}

// TestUsersAreNotHeld converts many users with long IDs into one region, which needs no sample of the users, and
// into several regions. The heap must not hold their 12 MB of keys. The regions must be the same with much memory.
func TestUsersAreNotHeld(t *testing.T) {
	const users, memory, besides = 60_000, 1 << 20, 8 << 20
	day := behaviour.DateOf(2014, 9, 1)
	h := &fixture{*testtable.New(t, testtable.FatJob("reversed")), &testworld.W{Span: behaviour.Span{From: day, To: day}}}
	var text strings.Builder
	text.WriteString("user_id,time,title,seconds\n")
	for i := range users {
		fmt.Fprintf(&text, "%0200d,%s 10:00:00,one,1\n", i, day)
	}
	h.Deliver(t, testworld.File{Name: day.String() + "/play.csv", Text: []byte(text.String())})
	c := h.config("table", "reversed")
	c.Memory = 256 << 20
	if _, err := load.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	text.Reset()
	for _, regions := range []int{1, 3} {
		var want []manifest.Key
		for _, given := range []int64{256 << 20, memory} {
			heap := dfstest.NewReadHeap(h.FS)
			to := h.conversion("table", "tall", "out")
			from := h.Store("table")
			from.FS = heap
			to.From, to.Regions, to.Memory, to.Workers = from, regions, given, 1
			r, err := convert.Run(t.Context(), to)
			if err != nil || r.Records != users || r.Regions != regions {
				t.Fatalf("%d regions in %d bytes: %+v, %v", regions, given, r, err)
			}
			if n := heap.Grown(); given == memory && n > memory+besides {
				t.Errorf("%d regions: the heap has %d MiB more than before, in %d MiB of memory", regions, n>>20, memory>>20)
			}
			got := h.Opened(t, "out").Manifest().Splits
			if want != nil && !reflect.DeepEqual(got, want) {
				t.Errorf("a conversion in little memory cuts the regions at %q, and not at %q", got, want)
			}
			want = got
			h.remove(t, "out")
		}
	}
}

// TestARecordLargerThanTheMemory converts a record that does not fit. The error names the user
// and the flag, and no table exists. With more memory the same conversion continues.
func TestARecordLargerThanTheMemory(t *testing.T) {
	for _, from := range []string{"reversed", "wide"} {
		h := fat(t, from, 1, 6<<20)
		c := h.conversion("table", "tall", "out")
		c.Memory = convert.MinMemory
		_, err := convert.Run(t.Context(), c)
		if !errors.Is(err, convert.ErrRequest) || !strings.Contains(err.Error(), `user "2"`) || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("%s: %v, want an error that names the user and --memory", from, err)
		}
		if _, err := h.Store("out").Open(context.Background()); err == nil {
			t.Errorf("%s: there is a table", from)
		}
		c.Memory = 1 << 30
		if r, err := convert.Run(t.Context(), c); err != nil || r.Records != 3 {
			t.Errorf("%s: with more memory %+v, %v", from, r, err)
		}
	}
}
