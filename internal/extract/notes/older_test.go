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

// TestDaysThatAreGoneAreSaid requests days that were dropped or have expired, and days that
// have not.
func TestDaysThatAreGoneAreSaid(t *testing.T) {
	w := testworld.World(4, 5)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 8 << 20, Regions: 2}, w.Span)
	half := w.Span.From + behaviour.Date(w.Span.Days()/2)
	notes := func(of func(table.Loader) table.Loader, span behaviour.Span, kept int64) []string {
		t.Helper()
		opened, err := h.Store("trails").Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		c := extract.Config{
			Spec:   query.Spec{Users: userlist.All(), Span: span, Types: w.Names(), Active: "any"},
			Target: place.Target{FS: h.FS},
			Table:  opened,
		}
		said, err := notes.For(t.Context(), of(opened), c, extract.Result{Kept: kept})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	plain := func(l table.Loader) table.Loader { return l }
	for _, ttl := range []time.Duration{0, 100000 * 24 * time.Hour} {
		if said := notes(func(l table.Loader) table.Loader { return aging{l, ttl} }, w.Span, 1); strings.Contains(strings.Join(said, "; "), "expire") {
			t.Errorf("of a table that keeps all is said %q", said)
		}
	}
	if said := notes(func(l table.Loader) table.Loader { return aging{l, 10 * 24 * time.Hour} }, w.Span, 1); !strings.Contains(strings.Join(said, "; "), "the table keeps events for 10d: events before ") {
		t.Errorf("of days that have expired is said %q", said)
	}
	if _, err := upkeep.Drop(t.Context(), upkeep.Config{FS: h.FS, Store: h.Store("trails")}, half); err != nil {
		t.Fatal(err)
	}
	if said := notes(plain, w.Span, 1); !strings.Contains(strings.Join(said, "; "), "the days before "+half.String()+" were dropped from the table") {
		t.Errorf("of days that were dropped is said %q", said)
	}
	if said := notes(plain, behaviour.Span{From: w.Span.From, To: half - 1}, 0); len(said) != 1 {
		t.Errorf("of days that were all dropped is said %q, want one note", said)
	}
	if said := notes(plain, behaviour.Span{From: half, To: w.Span.To}, 1); strings.Contains(strings.Join(said, "; "), "dropped") {
		t.Errorf("days that the table has: %q", said)
	}
}
