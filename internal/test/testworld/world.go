// Package testworld generates small populations, and computes the results of queries about
// them with slow and simple code. It is not part of the data flow: a test delivers a world's
// files to the programs and compares their results with Oracle.
//
// A world is difficult on purpose. Its users are prefixes and suffixes of each other, contain
// commas, quotes, backslashes, Chinese and emoji, or have 255 bytes. Many events share an
// instant, some to the microsecond. Some are near midnight and in the file of the wrong day.
// Fields are null, contain newlines, or have names that are prefixes of other fields' names;
// one kind has no fields. Files end without a newline, and lines with a carriage return. Some
// files are compressed, empty, missing, or delivered late. Some lines are bad.
//
// The oracle uses the generated values and not their text in files. It uses behaviour's
// values and column's IDs, and shares no other code with the programs. Equal seeds give equal
// worlds. Many goroutines may read a W at once.
package testworld

import (
	"math/rand/v2"
	"slices"
	"time"
	_ "time/tzdata" // for zones of worlds that the machine may not have

	"usertrail/internal/behaviour"
)

// W is a world: its users, their events, and the delivered files.
type W struct {
	Seed   uint64
	Schema behaviour.Schema
	Span   behaviour.Span // the days that have files; other days have no good records
	Users  []string       // sorted; a few of them have no events
	Files  []File         // sorted by name, for both deliveries

	// Missing is the number of pairs of day and behaviour without a file after both
	// deliveries. MissingEarly is their number before the late files arrive.
	Missing, MissingEarly int

	zone *time.Location
	acts []*act
}

// An act is one good record before it is formatted.
type act struct {
	user   string
	kind   int
	micros int64
	fields []field // one for each field of the kind
	late   bool    // it is in a file of the late delivery
	id     int64   // set when its place in a file is known
}

// A field is a value in the form of the delivered file and in the form of a result. Both are
// empty for null.
type field struct {
	written, shown string
}

// kinds are the same in every world: IDs with gaps up to the largest, names and fields that
// are prefixes of other names, every type.
var kinds = []behaviour.Kind{
	{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}}},
	{ID: 7, Name: "playlist", Fields: []behaviour.Field{
		{Name: "titles", Type: behaviour.String}, {Name: "title", Type: behaviour.String}, {Name: "rating", Type: behaviour.Double},
	}},
	{ID: 300, Name: "order", Fields: []behaviour.Field{
		{Name: "paid", Type: behaviour.Bool}, {Name: "due", Type: behaviour.Day}, {Name: "placed", Type: behaviour.Timestamp}, {Name: "price", Type: behaviour.Double},
	}},
	{ID: 65535, Name: "login"},
}

// Indexes of kinds with a special format.
const (
	playlist = 1
	order    = 2
)

// places are the zones and dates of worlds: no summer time, the end of summer time, a leap
// day, the end of a year, and other nights on which clocks are set.
var places = []struct {
	zone  string
	first behaviour.Date
}{
	{"Asia/Shanghai", behaviour.DateOf(2014, 9, 1)},
	{"America/New_York", behaviour.DateOf(2014, 10, 31)},
	{"UTC", behaviour.DateOf(2016, 2, 27)},
	{"Asia/Kathmandu", behaviour.DateOf(2014, 12, 30)},
	// The worlds of the seeds below FirstClock have the places above.
	{"America/New_York", behaviour.DateOf(2014, 3, 7)},    // an hour is skipped
	{"Australia/Lord_Howe", behaviour.DateOf(2014, 4, 4)}, // half an hour occurs twice
	{"Australia/Lord_Howe", behaviour.DateOf(2014, 10, 3)},
	{"America/Sao_Paulo", behaviour.DateOf(2014, 10, 17)}, // midnight is skipped
	{"America/Sao_Paulo", behaviour.DateOf(2014, 2, 14)},  // midnight becomes 23:00 of the day before
	{"America/St_Johns", behaviour.DateOf(2006, 10, 27)},  // 00:01 becomes 23:01 of the day before
	{"Pacific/Apia", behaviour.DateOf(2011, 12, 28)},      // a day is skipped
	{"Asia/Kathmandu", behaviour.DateOf(2016, 12, 30)},    // a leap second, at 05:44:60
}

const (
	fewPlaces = 4
	// FirstClock is the first of Clocks seeds, one for each place.
	FirstClock = 1000
)

// Clocks is the number of places.
var Clocks = uint64(len(places))

// World generates a world of the given number of people, at least one.
func World(seed uint64, people int) *W { return world(seed, people, names) }

// Numbered generates a world in which the user IDs are numbers of at most six digits without
// leading zeros.
func Numbered(seed uint64, people int) *W { return world(seed, people, numbers) }

func world(seed uint64, people int, names func(r *rand.Rand, people int) []string) *W {
	r := rand.New(rand.NewPCG(seed, 1))
	place := places[seed%fewPlaces]
	if seed >= FirstClock {
		place = places[(seed-FirstClock)%Clocks]
	}
	zone, err := time.LoadLocation(place.zone)
	if err != nil {
		panic("testworld: " + err.Error()) // the zones are linked in
	}
	w := &W{
		Seed:   seed,
		Schema: behaviour.Schema{Zone: place.zone, Kinds: slices.Clone(kinds)},
		Span:   behaviour.Span{From: place.first, To: place.first + behaviour.Date(2+r.IntN(4))},
		Users:  names(r, max(people, 1)),
		zone:   zone,
	}
	for _, user := range w.Users {
		w.live(r, user)
	}
	w.deliver(r)
	return w
}

// Names returns the names of all behaviours of the world.
func (w *W) Names() []string { return w.Schema.Names() }
