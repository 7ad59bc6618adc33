package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/trail"
)

var errMoved = errors.New("the region has moved")

// scanner is a table whose rows a function returns.
type scanner func(context.Context, table.Query, func(*cell.Cell) error) error

func (s scanner) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	return s(ctx, q, emit)
}

var (
	day    = behaviour.DateOf(2014, 9, 1)
	schema = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "login"}}}
)

// asked is a query and the number of workers.
type asked struct {
	fetch.Config
	workers int
}

func config(workers int) asked {
	return asked{fetch.Config{
		Schema: schema, Layout: layout.Reversed{}, Plan: fetch.Scan,
		Want: layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: day, To: day}},
	}, workers}
}

// each has every worker read the trails of its batches from r.
func each(ctx context.Context, r fetch.Reader, batches iter.Seq2[*fetch.Batch, error], a asked, emit func(*fetch.Trails) error) error {
	begin := func() (fetch.Work[*fetch.Trails], error) {
		asker, err := fetch.NewAsker(r, a.Config)
		if err != nil {
			return nil, err
		}
		return work(asker), nil
	}
	return fetch.Each(ctx, batches, a.workers, begin, emit)
}

// work returns the trails of the users of a batch.
func work(a *fetch.Asker) fetch.Work[*fetch.Trails] {
	return func(ctx context.Context, p *fetch.Batch, emit func(*fetch.Trails) error) error {
		t, err := a.Trails(ctx, p.Keys)
		if err != nil {
			return err
		}
		return emit(t)
	}
}

// user returns the ID of user i.
func user(i int) string { return fmt.Sprintf("%05d", i) }

// batch returns a batch of the n users with the numbers from, from+1, … in order of their keys.
func batch(from, n int) *fetch.Batch {
	var keys []string
	for i := range n {
		keys = append(keys, string(layout.Reversed{}.AppendUserKey(nil, []byte(user(from+i)))))
	}
	slices.Sort(keys)
	p := &fetch.Batch{Keys: new(fetch.Keys)}
	for _, k := range keys {
		p.Keys.Add([]byte(k), true)
	}
	return p
}

func batches(n int) iter.Seq2[*fetch.Batch, error] {
	return func(yield func(*fetch.Batch, error) bool) {
		for i := range n {
			if !yield(batch(10*i, 1), nil) {
				return
			}
		}
	}
}

// logins returns one login for each range, after a wait that differs from
// batch to batch.
func logins(wait func(start []byte) time.Duration) scanner {
	return func(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
		select {
		case <-time.After(wait(q.Bounds.Start)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for r := range q.Ranges {
			row := append(slices.Clone(r.Start), ",00001"...)
			c := cell.Cell{Row: row, Family: []byte("d"), Qualifier: []byte("_,\x00\x00\x00\x00\x00\x00\x00\x07"), Time: 1000, Type: cell.Put}
			if err := emit(&c); err != nil {
				return err
			}
		}
		return nil
	}
}

// uneven waits longest for every third batch.
func uneven(start []byte) time.Duration { return time.Duration(1+int(start[1])%3) * time.Second }

func TestResultsComeInTheOrderOfTheBatches(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 16} {
		synctest.Test(t, func(t *testing.T) {
			var got []string
			err := each(t.Context(), logins(uneven), batches(50), config(workers), func(tr *fetch.Trails) error {
				defer tr.Release()
				for i := range tr.Batch.Events {
					e := &tr.Batch.Events[i]
					if e.ID != 7 || e.Time != 1_000_000 || e.Date != int32(day) {
						t.Errorf("event %+v", *e)
					}
					id, err := layout.Reversed{}.AppendUser(nil, tr.Keys.At(int(e.User)))
					if err != nil {
						t.Error(err)
					}
					got = append(got, string(id))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range 50 {
				want = append(want, user(10*i))
			}
			if !slices.Equal(got, want) {
				t.Errorf("with %d workers the users come as %q, want %q", workers, got, want)
			}
		})
	}
}

// TestEachIsBounded counts the batches that are read at once, and the batches that are requested
// while emit waits.
func TestEachIsBounded(t *testing.T) {
	const workers = 4
	synctest.Test(t, func(t *testing.T) {
		var now, most, asked atomic.Int64
		read := logins(uneven)
		counting := scanner(func(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
			asked.Add(1)
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			return read(ctx, q, emit)
		})
		emitted := int64(0)
		err := each(t.Context(), counting, batches(100), config(workers), func(tr *fetch.Trails) error {
			defer tr.Release()
			emitted++
			time.Sleep(time.Minute) // until all batches that may be requested ahead are requested
			if ahead := asked.Load() - emitted; ahead > 2*workers+1 {
				t.Errorf("%d batches are asked for ahead, want at most %d", ahead, 2*workers+1)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if most.Load() != workers {
			t.Errorf("%d batches were read at once, want %d", most.Load(), workers)
		}
	})
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		read := logins(uneven)
		failing := scanner(func(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
			if asked.Add(1) == 5 {
				return errMoved
			}
			return read(ctx, q, emit)
		})
		emitted := 0
		err := each(t.Context(), failing, batches(1000), config(4), func(tr *fetch.Trails) error {
			emitted++
			tr.Release()
			return nil
		})
		if !errors.Is(err, errMoved) || !strings.Contains(err.Error(), `fetch: 1 user from "`) {
			t.Errorf("%v, want errMoved and where it happened", err)
		}
		if n := asked.Load(); n > 5+4 || emitted > 4 {
			t.Errorf("asked %d times and emitted %d after a failure at the fifth", n, emitted)
		}
	})
}

func TestErrorsOfEmitAndOfBatchesEndEach(t *testing.T) {
	errFull, errList := errors.New("the disk is full"), errors.New("the list broke off")
	synctest.Test(t, func(t *testing.T) {
		n := 0
		err := each(t.Context(), logins(uneven), batches(1000), config(4), func(tr *fetch.Trails) error {
			if n++; n == 3 {
				return errFull
			}
			return nil
		})
		if !errors.Is(err, errFull) || n != 3 {
			t.Errorf("%v after %d emits, want %v after 3", err, n, errFull)
		}
		broken := func(yield func(*fetch.Batch, error) bool) {
			if yield(batch(1, 1), nil) {
				yield(nil, errList)
			}
		}
		if err := each(t.Context(), logins(uneven), broken, config(4), func(*fetch.Trails) error { return nil }); !errors.Is(err, errList) {
			t.Errorf("%v, want %v", err, errList)
		}
	})
}

// TestEachEndsWhenItsContextDoes cancels the context of Each. If a goroutine is left, synctest
// fails the test.
func TestEachEndsWhenItsContextDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errStop := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(errStop) })
		hour := func([]byte) time.Duration { return time.Hour }
		began := time.Now()
		err := each(ctx, logins(hour), batches(1000), config(4), func(*fetch.Trails) error { return nil })
		if !errors.Is(err, errStop) || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %s, want %v at once", err, time.Since(began), errStop)
		}
	})
}

// TestHeldTrailsStayAsTheyAre keeps all emitted trails until the end. Each must not reuse their
// memory before.
func TestHeldTrailsStayAsTheyAre(t *testing.T) {
	var held []*fetch.Trails
	soon := func([]byte) time.Duration { return 0 }
	err := each(t.Context(), logins(soon), batches(200), config(4), func(tr *fetch.Trails) error {
		if len(held)%2 == 0 {
			tr.Hold()
			tr.Release()
		}
		held = append(held, tr)
		return nil
	})
	if err != nil || len(held) != 200 {
		t.Fatalf("%d trails, %v", len(held), err)
	}
	for i, tr := range held {
		want := string(layout.Reversed{}.AppendUserKey(nil, []byte(user(10*i))))
		if len(tr.Batch.Events) != 1 || string(tr.Keys.At(0)) != want {
			t.Errorf("trails %d are %d events of %q, want 1 of %q", i, len(tr.Batch.Events), tr.Keys.At(0), want)
		}
		tr.Release()
	}
}

// TestQueriesHoldTheirRanges checks the queries that a table receives.
func TestQueriesHoldTheirRanges(t *testing.T) {
	p := batch(0, 30)
	one := func(yield func(*fetch.Batch, error) bool) { yield(p, nil) }
	noted := scanner(func(_ context.Context, q table.Query, _ func(*cell.Cell) error) error {
		for range 2 { // ranges may be walked again
			n, last := 0, ""
			for r := range q.Ranges {
				if string(r.Start) < last || string(r.Start) >= string(r.End) {
					t.Errorf("range %s does not come after %q", r, last)
				}
				if !q.Bounds.Has(r.Start) || string(r.End) > string(q.Bounds.End) {
					t.Errorf("range %s is not within %s", r, q.Bounds)
				}
				n, last = n+1, string(r.End)
			}
			if n != 30 {
				t.Errorf("%d ranges, want one for each of 30 users", n)
			}
		}
		if q.Span != config(1).Want.Span || len(q.Columns.Prefixes) != 1 {
			t.Errorf("span %s, prefixes %q", q.Span, q.Columns.Prefixes)
		}
		return nil
	})
	err := each(t.Context(), noted, one, config(1), func(tr *fetch.Trails) error {
		if len(tr.Batch.Events) != 0 {
			t.Errorf("%d events, want none", len(tr.Batch.Events))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestThePlanSaysHowRowsAreAskedFor checks that gets name each user's every row,
// and which plan Auto is.
func TestThePlanSaysHowRowsAreAskedFor(t *testing.T) {
	p := batch(0, 3)
	for _, c := range []struct {
		plan fetch.Plan
		days int
		rows int // 0 is ranges
	}{{fetch.Get, 1, 3}, {fetch.Get, 40, 120}, {fetch.Scan, 1, 0}, {fetch.Snapshot, 1, 0}, {fetch.Auto, 1, 3}, {fetch.Auto, 40, 0}} {
		cfg := config(1)
		cfg.Plan, cfg.Want.Span.To = c.plan, day+behaviour.Date(c.days-1)
		noted := scanner(func(_ context.Context, q table.Query, _ func(*cell.Cell) error) error {
			if (q.Ranges == nil) != (c.rows > 0) || (q.Rows == nil) != (c.rows == 0) {
				t.Errorf("%s, %d days: ranges %t, rows %t", c.plan, c.days, q.Ranges != nil, q.Rows != nil)
				return nil
			}
			n, last := 0, ""
			for range 2 { // rows may be walked again
				if n, last = 0, ""; q.Rows == nil {
					break
				}
				for row := range q.Rows {
					if string(row) <= last || !q.Bounds.Has(row) {
						t.Errorf("row %q does not come after %q within %s", row, last, q.Bounds)
					}
					n, last = n+1, string(row)
				}
			}
			if n != c.rows {
				t.Errorf("%s, %d days: %d rows, want %d", c.plan, c.days, n, c.rows)
			}
			return nil
		})
		one := func(yield func(*fetch.Batch, error) bool) { yield(p, nil) }
		if err := each(t.Context(), noted, one, cfg, func(*fetch.Trails) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fetch.ParsePlan("gets"); err == nil {
		t.Error("a plan called gets is taken")
	}
}

// TestABatchHasManyResults returns three numbers for every batch: they arrive in order, and two
// are waiting at most.
func TestABatchHasManyResults(t *testing.T) {
	var got []string
	begin := func() (fetch.Work[string], error) {
		return func(_ context.Context, p *fetch.Batch, emit func(string) error) error {
			for i := range 3 {
				if err := emit(fmt.Sprintf("%s%d", p.Keys.At(0), i)); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	err := fetch.Each(t.Context(), batches(20), 3, begin, func(s string) error {
		got = append(got, s)
		return nil
	})
	var want []string
	for p := range batches(20) {
		for i := range 3 {
			want = append(want, fmt.Sprintf("%s%d", p.Keys.At(0), i))
		}
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
}

// TestManyUsersAreTooMuchForOneBatch reads users whose values do not fit together, and each of
// them alone.
func TestManyUsersAreTooMuchForOneBatch(t *testing.T) {
	cfg := config(1).Config
	cfg.Schema = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "login", Fields: []behaviour.Field{{Name: "note"}}}}}
	cfg.Most = 80 // of two users, and of one
	notes := scanner(func(_ context.Context, q table.Query, emit func(*cell.Cell) error) error {
		for r := range q.Ranges {
			row := append(slices.Clone(r.Start), ",00001"...)
			c := cell.Cell{Row: row, Family: []byte("d"), Qualifier: []byte("note,\x00\x00\x00\x00\x00\x00\x00\x07"), Value: []byte("ten bytes."), Time: 1000, Type: cell.Put}
			if err := emit(&c); err != nil {
				return err
			}
		}
		return nil
	})
	asker, err := fetch.NewAsker(notes, cfg)
	if err != nil {
		t.Fatal(err)
	}
	both := batch(0, 2).Keys
	if _, err := asker.Trails(t.Context(), both); !errors.Is(err, trail.ErrFull) {
		t.Errorf("%v, want ErrFull", err)
	}
	for i := range 2 {
		one := both.Part(i, i+1)
		var much *fetch.TooMuch
		if _, err := asker.Weighed(t.Context(), one, 50); !errors.As(err, &much) || !errors.Is(err, trail.ErrFull) {
			t.Errorf("%v, want a TooMuch", err)
		}
		tr, err := asker.Weighed(t.Context(), one, much.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.At(0), both.At(i)) || one.Sure(0) != both.Sure(i) || string(tr.Batch.Value(tr.Batch.Refs[0])) != "ten bytes." {
			t.Errorf("user %d has the key %q and the note %q", i, one.At(0), tr.Batch.Data)
		}
		tr.Release()
	}
}

// ExampleEach queries a table, here a table with a login of every user, for two users' trails.
func ExampleEach() {
	keys := new(fetch.Keys)
	for _, id := range []string{"u1", "u2"} {
		keys.Add(layout.Reversed{}.AppendUserKey(nil, []byte(id)), true)
	}
	batches := func(yield func(*fetch.Batch, error) bool) { yield(&fetch.Batch{Keys: keys}, nil) }
	cfg := fetch.Config{
		Schema: schema, Layout: layout.Reversed{}, Plan: fetch.Scan,
		Want: layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: day, To: day}},
	}
	soon := func([]byte) time.Duration { return 0 }
	begin := func() (fetch.Work[*fetch.Trails], error) {
		asker, err := fetch.NewAsker(logins(soon), cfg)
		return work(asker), err
	}
	err := fetch.Each(context.Background(), batches, 2, begin, func(t *fetch.Trails) error {
		defer t.Release()
		for _, e := range t.Batch.Events {
			id, err := cfg.Layout.AppendUser(nil, t.Keys.At(int(e.User)))
			if err != nil {
				return err
			}
			fmt.Printf("%s %s on %s\n", id, schema.Kinds[e.Kind].Name, behaviour.Date(e.Date))
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// u1 login on 2014-09-01
	// u2 login on 2014-09-01
}

func BenchmarkEach(b *testing.B) {
	const n, users = 64, 256
	var made []*fetch.Batch
	for i := range n {
		made = append(made, batch(i*users, users))
	}
	all := func(yield func(*fetch.Batch, error) bool) {
		for _, p := range made {
			if !yield(p, nil) {
				return
			}
		}
	}
	for _, delay := range []time.Duration{0, time.Millisecond} {
		for _, workers := range []int{1, 2, 16} {
			b.Run(fmt.Sprintf("batches=%d/users=%d/delay=%s/workers=%d", n, users, delay, workers), func(b *testing.B) {
				wait := func([]byte) time.Duration { return delay }
				b.ReportAllocs()
				for b.Loop() {
					err := each(b.Context(), logins(wait), all, config(workers), func(tr *fetch.Trails) error {
						tr.Release()
						return nil
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*n*users/b.Elapsed().Seconds(), "users/s")
			})
		}
	}
}

// TestTurnsComeInTheOrderOfTheBatches has every worker wait for its batch's turn: when it comes,
// what became of all batches before was emitted, and half a batch has the turn of the whole.
func TestTurnsComeInTheOrderOfTheBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var emitted atomic.Int64
		begin := func() (fetch.Work[int64], error) {
			return func(ctx context.Context, p *fetch.Batch, emit func(int64) error) error {
				if err := p.Half(true).Turn(ctx); err != nil {
					return err
				}
				return emit(emitted.Load())
			}, nil
		}
		err := fetch.Each(t.Context(), batches(20), 4, begin, func(n int64) error {
			if n != emitted.Load() {
				t.Errorf("the turn of batch %d came when %d were emitted", emitted.Load(), n)
			}
			time.Sleep(time.Second)
			emitted.Add(1)
			return nil
		})
		if err != nil || emitted.Load() != 20 {
			t.Errorf("%d batches, %v", emitted.Load(), err)
		}
	})
}
