package segment

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/tally"
)

// A Day is a date and behaviour of one load. Ledgers count records and cells by Day.
type Day struct {
	Load int
	Date behaviour.Date
	Kind int // index in the schema's kinds
}

// Tallies counts records and cells by Day, and cells by load and region. One goroutine uses it.
type Tallies struct {
	days    map[dayKey]int32 // places in sums
	sums    []daySum
	values  []uint64 // bits of the fields of all days
	regions map[loadRegion]*tally.Tally

	// Most records are of the same day and region as the record before them.
	lastDay    dayKey
	at         int32 // place of lastDay, if there are sums
	lastRegion loadRegion
	regionSum  *tally.Tally // entry of lastRegion; nil before the first call of AddRegion
}

// A dayKey is a Day in less memory. A load may have hundreds of thousands of them.
type dayKey struct {
	load int32
	date behaviour.Date
	kind int32
}

func (k dayKey) compare(o dayKey) int {
	return cmp.Or(cmp.Compare(k.date, o.date), cmp.Compare(k.kind, o.kind))
}

func (k dayKey) byKind(o dayKey) int {
	return cmp.Or(cmp.Compare(k.kind, o.kind), cmp.Compare(k.date, o.date))
}

// A daySum counts the records and cells of a day.
type daySum struct {
	records int64
	cells   tally.Tally
	// Tallies.values has a bit for each field that has a value in some record. There are no words if no record was added with values.
	valuesAt, words int32
}

type loadRegion struct{ load, region int }

// NewTallies returns empty Tallies.
func NewTallies() *Tallies {
	return &Tallies{days: map[dayKey]int32{}, regions: map[loadRegion]*tally.Tally{}}
}

// Add adds records and cells of a day.
func (t *Tallies) Add(day Day, records int64, cells tally.Tally) {
	t.add(dayKey{int32(day.Load), day.Date, int32(day.Kind)}, records, cells)
}

func (t *Tallies) add(day dayKey, records int64, cells tally.Tally) {
	if len(t.sums) == 0 || t.lastDay != day {
		at, ok := t.days[day]
		if !ok {
			at = int32(len(t.sums))
			t.days[day], t.sums = at, append(t.sums, daySum{})
		}
		t.lastDay, t.at = day, at
	}
	sum := &t.sums[t.at]
	sum.records += records
	sum.cells.Add(cells)
}

// AddRecord adds a record of a day without its cells. The records of a day must have the values of the same fields.
func (t *Tallies) AddRecord(day Day, values [][]byte) {
	t.Add(day, 1, tally.Tally{})
	bits := t.bits(&t.sums[t.at], len(values))
	for i, v := range values {
		if v != nil {
			bits[i/wordBits] |= 1 << (i % wordBits)
		}
	}
}

// wordBits is the number of bits of an element of Tallies.values.
const wordBits = 64

// bits returns the bits of n fields of a day.
func (t *Tallies) bits(sum *daySum, n int) []uint64 {
	if sum.words == 0 {
		sum.valuesAt, sum.words = int32(len(t.values)), int32((n+wordBits-1)/wordBits)
		t.values = append(t.values, make([]uint64, sum.words)...)
	}
	return t.values[sum.valuesAt:][:sum.words]
}

// Len returns the number of days.
func (t *Tallies) Len() int { return len(t.sums) }

// AddRegion adds cells of a load and region.
func (t *Tallies) AddRegion(load, region int, cells tally.Tally) {
	at := loadRegion{load, region}
	if t.regionSum == nil || t.lastRegion != at {
		sum := t.regions[at]
		if sum == nil {
			sum = new(tally.Tally)
			t.regions[at] = sum
		}
		t.lastRegion, t.regionSum = at, sum
	}
	t.regionSum.Add(cells)
}

// Merge adds all of o. The caller must not use o again.
func (t *Tallies) Merge(o *Tallies) {
	if len(t.sums) == 0 {
		t.days, t.sums, t.values, t.lastDay, t.at = o.days, o.sums, o.values, o.lastDay, o.at
	} else {
		for day, at := range o.days {
			from := &o.sums[at]
			t.add(day, from.records, from.cells)
			for i, word := range o.values[from.valuesAt:][:from.words] {
				t.bits(&t.sums[t.at], int(from.words)*wordBits)[i] |= word
			}
		}
	}
	for at, sum := range o.regions {
		t.AddRegion(at.load, at.region, *sum)
	}
}

// Span returns the smallest span that includes all dates.
func (t *Tallies) Span() behaviour.Span {
	s := behaviour.Span{From: behaviour.MaxDate, To: behaviour.MinDate}
	for day := range t.days {
		s.From, s.To = min(s.From, day.date), max(s.To, day.date)
	}
	return s
}

// Loads returns the numbers of the loads in ascending order.
func (t *Tallies) Loads() []int {
	loads := map[int]bool{}
	for day := range t.days {
		loads[int(day.load)] = true
	}
	return slices.Sorted(maps.Keys(loads))
}

// Days returns the days of a load in order of date and behaviour ID.
func (t *Tallies) Days(load int, s *behaviour.Schema) []manifest.Day {
	days := t.daysOf(load, dayKey.compare)
	out := make([]manifest.Day, len(days))
	for i, day := range days {
		sum := &t.sums[t.days[day]]
		out[i] = manifest.Day{Date: day.date, Behaviour: s.Kinds[day.kind].Name, Records: sum.records, Tally: sum.cells}
	}
	return out
}

// daysOf returns the days of a load in an order.
func (t *Tallies) daysOf(load int, order func(a, b dayKey) int) []dayKey {
	days := make([]dayKey, 0, len(t.days))
	for day := range t.days {
		if int(day.load) == load {
			days = append(days, day)
		}
	}
	slices.SortFunc(days, order)
	return days
}

// A ReadBy returns the digest of the settings by which the job of a load read a field of the schema, or "" if the job has no such
// field.
type ReadBy func(kind, field int) string

// NoValue returns the fields without a value of the days of a load to which records were added by AddRecord, in order of the
// behaviours.
func (t *Tallies) NoValue(load int, s *behaviour.Schema, by ReadBy) *manifest.NoValue {
	var none manifest.NoValues
	groups := map[string]int{} // by kind and bits
	var key []byte
	for _, day := range t.daysOf(load, dayKey.byKind) {
		sum := &t.sums[t.days[day]]
		if sum.words == 0 {
			continue
		}
		bits := t.values[sum.valuesAt:][:sum.words]
		key = binary.AppendUvarint(key[:0], uint64(day.kind))
		for _, word := range bits {
			key = binary.LittleEndian.AppendUint64(key, word)
		}
		group, ok := groups[string(key)]
		if !ok {
			kind := &s.Kinds[day.kind]
			group = none.Group(kind.Name, none.Indexes(withoutBit(int(day.kind), kind.Fields, bits, by)))
			groups[string(key)] = group
		}
		none.Add(group, day.date)
	}
	return none.Result()
}

// withoutBit returns the fields of a kind that have no bit and that the job has.
func withoutBit(kind int, fields []behaviour.Field, bits []uint64, by ReadBy) iter.Seq[manifest.FieldBy] {
	return func(yield func(manifest.FieldBy) bool) {
		for i, f := range fields {
			if bits[i/wordBits]&(1<<(i%wordBits)) != 0 {
				continue
			}
			if digest := by(kind, i); digest != "" && !yield(manifest.FieldBy{Name: f.Name, By: digest}) {
				return
			}
		}
	}
}

// Regions returns the regions between points, with the tallies of a load.
func (t *Tallies) Regions(load int, points split.Points) []manifest.Region {
	regions := points.Regions()
	out := make([]manifest.Region, len(regions))
	for i, r := range regions {
		out[i].First = r.Start
		if sum := t.regions[loadRegion{load, i}]; sum != nil {
			out[i].Tally = *sum
		}
	}
	return out
}
