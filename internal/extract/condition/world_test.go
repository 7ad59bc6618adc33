package condition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

// schema has every type, a field name in two kinds, names that are keywords or functions of
// the language, and names in other scripts.
func schema() *behaviour.Schema {
	field := func(name string, t behaviour.Type) behaviour.Field { return behaviour.Field{Name: name, Type: t} }
	return &behaviour.Schema{Zone: "America/Sao_Paulo", Kinds: []behaviour.Kind{
		{ID: 1, Name: "login"},
		{ID: 2, Name: "play", Fields: []behaviour.Field{field("programme", behaviour.String), field("seconds", behaviour.Int64), field("live", behaviour.Bool)}},
		{ID: 3, Name: "order", Fields: []behaviour.Field{
			field("product", behaviour.String), field("price", behaviour.Double), field("paid", behaviour.Bool),
			field("due", behaviour.Day), field("placed", behaviour.Timestamp), field("seconds", behaviour.Int64),
		}},
		{ID: 4, Name: "count", Fields: []behaviour.Field{field("let", behaviour.Int64), field("x²", behaviour.Double)}},
		{ID: 5, Name: "in", Fields: []behaviour.Field{field("not", behaviour.String)}},
		{ID: 6, Name: "登录", Fields: []behaviour.Field{field("节目_1", behaviour.String)}},
	}}
}

// A happening is one event in the form that the oracles use.
type happening struct {
	kind   int
	micros int64
	date   behaviour.Date
	values []any // string, int, float64, bool or time.Time; nil is null
}

var (
	texts   = []string{"", "a", "Drama 7", "drama", "节目", "play", " b ", "%", strings.Repeat("long ", 30)}
	wholes  = []int{0, 1, -1, 7, 599, 600, 3600, math.MaxInt64, math.MinInt64, 1 << 62}
	doubles = []float64{0, 1, -2.5, 9.99, 1e300, math.Inf(1), math.NaN(), 600}
	moments = []string{"2014-10-18T23:59:59.999999-03:00", "2014-10-19T03:00:00Z", "2014-02-16T01:30:00Z", "2014-02-16T02:30:00Z", "1969-12-31T00:00:00Z"}
)

func location(t testing.TB, s *behaviour.Schema) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// life generates one user's trail, with repeated times, days on which a clock is put back,
// and nulls.
func life(rng *rand.Rand, s *behaviour.Schema, zone *time.Location, n int) []happening {
	at := time.Date(2014, 2, 14, 0, 0, 0, 0, zone).UnixMicro()
	var out []happening
	for range n {
		if rng.IntN(3) > 0 {
			at += rng.Int64N([]int64{2, 60e6, 3600e6, 86400e6}[rng.IntN(4)])
		}
		h := happening{kind: rng.IntN(len(s.Kinds)), micros: at, date: behaviour.DateAt(at, zone)}
		if rng.IntN(2) == 0 {
			h.kind = 1 + rng.IntN(2)
		}
		for _, f := range s.Kinds[h.kind].Fields {
			h.values = append(h.values, made(rng, f.Type, zone))
		}
		out = append(out, h)
	}
	return out
}

func made(rng *rand.Rand, t behaviour.Type, zone *time.Location) any {
	if rng.IntN(4) == 0 {
		return nil
	}
	switch t {
	case behaviour.String:
		return texts[rng.IntN(len(texts))]
	case behaviour.Int64:
		return wholes[rng.IntN(len(wholes))]
	case behaviour.Double:
		return doubles[rng.IntN(len(doubles))]
	case behaviour.Bool:
		return rng.IntN(2) == 0
	case behaviour.Day:
		return behaviour.DateOf(2014, 10, 17+rng.IntN(4)).Start(zone)
	}
	at, err := time.Parse(time.RFC3339Nano, moments[rng.IntN(len(moments))])
	if err != nil {
		panic(err)
	}
	return at
}

// put adds a value to a batch, which has room for it.
func put(b *trail.Batch, v []byte) trail.Ref {
	ref, err := b.Put(v)
	if err != nil {
		panic(err)
	}
	return ref
}

// batch returns a trail in the form that an extract uses.
func batch(s *behaviour.Schema, zone *time.Location, trl []happening) *trail.Batch {
	b := new(trail.Batch)
	b.Reset()
	for i, h := range trl {
		ev := trail.Event{Time: h.micros, ID: int64(i), Refs: uint32(len(b.Refs)), Date: int32(h.date), Kind: uint16(h.kind)}
		for j, v := range h.values {
			var ref trail.Ref
			if v != nil {
				ref = put(b, encoded(s.Kinds[h.kind].Fields[j].Type, v, zone))
			}
			b.Refs = append(b.Refs, ref)
		}
		b.Events = append(b.Events, ev)
	}
	return b
}

func encoded(t behaviour.Type, v any, zone *time.Location) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case int:
		return behaviour.AppendInt64(nil, int64(v))
	case float64:
		return behaviour.AppendDouble(nil, v)
	case bool:
		return behaviour.AppendBool(nil, v)
	case time.Time:
		if t == behaviour.Day {
			return behaviour.AppendDate(nil, behaviour.DateAt(v.UnixMicro(), zone))
		}
		return behaviour.AppendInt64(nil, v.UnixMicro())
	}
	panic(fmt.Sprintf("no cell for %T", v))
}

func kindsOf(s *behaviour.Schema, has func(int) bool) string {
	var names []string
	for i, k := range s.Kinds {
		if has(i) {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, " ")
}

func fieldsOf(s *behaviour.Schema, fields [][]bool) string {
	var names []string
	for i, k := range s.Kinds {
		for j, f := range k.Fields {
			if fields[i][j] {
				names = append(names, k.Name+"."+f.Name)
			}
		}
	}
	return strings.Join(slices.Compact(names), " ")
}
