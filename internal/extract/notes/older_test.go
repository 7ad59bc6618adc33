package notes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/notes"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/table"
	"usertrail/internal/test/testworld"
)

// aging is a table that keeps cells for a time.
type aging struct {
	table.Loader
	ttl time.Duration
}

func (a aging) TTL(context.Context) (time.Duration, error) { return a.ttl, nil }

// TestDaysThatAreGoneAreSaid asks for days that were dropped or have expired, and for
// days that have not.
func TestDaysThatAreGoneAreSaid(t *testing.T) {
	w := testworld.World(4, 5)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 8 << 20, Regions: 2}, w.Span)
	half := w.Span.From + behaviour.Date(w.Span.Days()/2)
	notes := func(of func(table.Loader) table.Loader, from behaviour.Date) string {
		t.Helper()
		opened, err := h.Store("trails").Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		c := extract.Config{
			Spec:   query.Spec{Users: userlist.All(), Span: behaviour.Span{From: from, To: w.Span.To}, Types: w.Names(), Active: "any"},
			Target: place.Target{FS: h.FS},
			Table:  opened,
		}
		said, err := notes.For(t.Context(), of(opened), c, extract.Result{Kept: 1})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(said, "; ")
	}
	plain := func(l table.Loader) table.Loader { return l }
	for _, ttl := range []time.Duration{0, 100000 * 24 * time.Hour} {
		if said := notes(func(l table.Loader) table.Loader { return aging{l, ttl} }, w.Span.From); strings.Contains(said, "expire") {
			t.Errorf("of a table that keeps all is said %q", said)
		}
	}
	if said := notes(func(l table.Loader) table.Loader { return aging{l, 10 * 24 * time.Hour} }, w.Span.From); !strings.Contains(said, "the table keeps events for 10d: events before ") {
		t.Errorf("of days that have expired is said %q", said)
	}
	if _, err := upkeep.Drop(t.Context(), upkeep.Config{FS: h.FS, Store: h.Store("trails")}, half); err != nil {
		t.Fatal(err)
	}
	if said := notes(plain, w.Span.From); !strings.Contains(said, "the days before "+half.String()+" were dropped from the table") {
		t.Errorf("of days that were dropped is said %q", said)
	}
	if said := notes(plain, half); strings.Contains(said, "dropped") {
		t.Errorf("days that the table has: %q", said)
	}
}
