package condition_test

import (
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/trail"
)

func shop() (*behaviour.Schema, *trail.Batch) {
	s := &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "seconds", Type: behaviour.Int64}}},
		{ID: 2, Name: "order", Fields: []behaviour.Field{{Name: "price", Type: behaviour.Double}}},
	}}
	b := new(trail.Batch)
	b.Refs = []trail.Ref{put(b, behaviour.AppendInt64(nil, 700)), {}, put(b, behaviour.AppendDouble(nil, 9.5))}
	b.Events = []trail.Event{{Time: 1409529600e6, Kind: 0, Refs: 0}, {Time: 1409533200e6, Kind: 0, Refs: 1}, {Time: 1409536800e6, Kind: 1, Refs: 2}}
	return s, b
}

func ExampleParseWhere() {
	s, b := shop() // a play of 700 seconds, one that has no seconds, an order
	for _, text := range []string{"play.seconds >= 600 || order.price > 10", "!(play.seconds >= 600)", "play.secods >= 600"} {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		e := w.Evaluator()
		fmt.Print(text, ":")
		for i := range b.Events {
			kept, err := e.Keeps(b, &b.Events[i])
			if err != nil {
				fmt.Println(err)
			}
			fmt.Print(" ", kept)
		}
		fmt.Println()
	}
	// Output:
	// play.seconds >= 600 || order.price > 10: true false false
	// !(play.seconds >= 600): false true true
	// play has no field secods (did you mean seconds?); it has seconds (int64)
	//   play.secods >= 600
	//        ^
}

func ExampleParseHaving() {
	s, b := shop()
	for _, text := range []string{"count(play) >= 2 && sum(order.price) > 9", "avg(play.seconds) == 700", `last(order) > date("2014-09-01 12:00")`} {
		h, err := condition.ParseHaving(text, s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		e := h.Evaluator()
		e.Begin()
		for i := range b.Events {
			e.Add(b, &b.Events[i])
		}
		kept, err := e.Keeps()
		fmt.Println(text, kept, err)
	}
	// Output:
	// count(play) >= 2 && sum(order.price) > 9 true <nil>
	// avg(play.seconds) == 700 true <nil>
	// last(order) > date("2014-09-01 12:00") false <nil>
}
