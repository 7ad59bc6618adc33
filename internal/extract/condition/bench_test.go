package condition_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/trail"
)

// plays returns events with values like those of logs: seconds of an hour, one of a thousand
// programmes, and sometimes null. Every fifth event is an order.
func plays(n int) (*behaviour.Schema, *trail.Batch) {
	s := schema()
	rng := rand.New(rand.NewPCG(7, 7))
	b := new(trail.Batch)
	b.Reset()
	for i := range n {
		ev := trail.Event{Time: 1409529600e6 + int64(i)*1e6, Refs: uint32(len(b.Refs)), Date: 16314, Kind: 1}
		values := [][]byte{[]byte(fmt.Sprintf("programme %d", rng.IntN(1000))), behaviour.AppendInt64(nil, rng.Int64N(3600)), {0xff}}
		if i%5 == 4 {
			ev.Kind = 2
			values = [][]byte{[]byte("book"), behaviour.AppendDouble(nil, float64(rng.IntN(10000))/100), {0}, nil, nil, nil}
		}
		for _, v := range values {
			ref := trail.Ref{}
			if v != nil && rng.IntN(20) > 0 {
				ref = put(b, v)
			}
			b.Refs = append(b.Refs, ref)
		}
		b.Events = append(b.Events, ev)
	}
	return s, b
}

func BenchmarkWhere(b *testing.B) {
	s, events := plays(100_000)
	for _, text := range []string{
		`play.seconds >= 600 || order.price > 0`,
		`play.programme == "programme 7"`,
		`play.programme in ["programme 7", "programme 8", "programme 9"]`,
		`play.programme contains "99" && play.seconds in 60..600`,
		`hour >= 18 && play.seconds * 2 > 100`,
		`time >= date("2014-09-01 05:00")`,
		`behaviour == "login"`,
	} {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			e := w.Evaluator()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := e.Keeps(events, &events.Events[i]); err != nil {
					b.Fatal(err)
				}
				if i++; i == len(events.Events) {
					i = 0
				}
			}
		})
	}
}

func BenchmarkHaving(b *testing.B) {
	s, events := plays(100_000)
	h, err := condition.ParseHaving(`count(play) >= 5 && sum(order.price) > 100 && days(login) >= 3`, s)
	if err != nil {
		b.Fatal(err)
	}
	e := h.Evaluator()
	b.ReportAllocs()
	i := 0
	for b.Loop() { // users of 50 events
		if i%50 == 0 {
			e.Begin()
		}
		e.Add(events, &events.Events[i])
		if i%50 == 49 {
			if _, err := e.Keeps(); err != nil {
				b.Fatal(err)
			}
		}
		if i++; i == len(events.Events) {
			i = 0
		}
	}
}

func BenchmarkSequence(b *testing.B) {
	s, events := plays(100_000)
	q, err := condition.ParseSequence(`play -> order within 1h -> login within 1d`, s)
	if err != nil {
		b.Fatal(err)
	}
	m := q.Matcher()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i%50 == 0 {
			m.Begin()
		}
		m.Add(&events.Events[i])
		if i++; i == len(events.Events) {
			i = 0
		}
	}
	if m.Reached() == 3 {
		b.Fatal("nobody logs in")
	}
}
