// Package testworld makes small populations up and answers questions about them
// slowly and obviously. It stands beside the flow: a test delivers a world's
// files to the programs and compares what comes out with Oracle.
//
// A world is nasty on purpose. Its users are prefixes and suffixes of each
// other, hold commas, quotes, backslashes, Chinese and emoji, or are 255 bytes
// long. Many behaviours happen at one instant, some to the microsecond, some on
// either side of midnight and then in the file of the wrong day. Fields are
// null, hold newlines, or have names that begin other fields' names; one kind
// has none. Files end without a newline, lines with a carriage return; some
// files are compressed, empty, missing, or delivered late; some lines are bad.
//
// The oracle knows what was meant before it became text. It uses behaviour's
// values and column's IDs, and shares no code with what it judges. Equal seeds
// give equal worlds. A W may be read by many goroutines at once.
package testworld

import (
	"math/rand/v2"
	"slices"
	"time"
	_ "time/tzdata" // worlds lie in zones that a machine may not know

	"usertrail/internal/behaviour"
)

// W is a world: who lives in it, what they did, and how that is delivered.
type W struct {
	Seed   uint64
	Schema behaviour.Schema
	Span   behaviour.Span // the days that have files; nothing good happens on others
	Users  []string       // sorted; a few of them did nothing
	Files  []File         // sorted by name, those of both deliveries

	// Missing is how many pairs of a day and a behaviour have no file, once all
	// is delivered; MissingEarly before the late files are.
	Missing, MissingEarly int

	zone *time.Location
	acts []*act
}

// An act is one good record, as it was meant.
type act struct {
	user   string
	kind   int
	micros int64
	fields []field // one for each field of the kind
	late   bool    // it stands in a file that is delivered late
	id     int64   // known once it has its place in a file
}

// A field is a value as the delivered file writes it and as an answer shows it;
// both are empty for null.
type field struct {
	written, shown string
}

// kinds are the same in every world: IDs with gaps up to the largest, names and
// fields that begin other names, every type.
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

// Kind indices with something of their own in how they are written.
const (
	playlist = 1
	order    = 2
)

// places are where and when worlds lie: no summer time, the end of summer time,
// a leap day, the end of a year.
var places = []struct {
	zone  string
	first behaviour.Date
}{
	{"Asia/Shanghai", behaviour.DateOf(2014, 9, 1)},
	{"America/New_York", behaviour.DateOf(2014, 10, 31)},
	{"UTC", behaviour.DateOf(2016, 2, 27)},
	{"Asia/Kathmandu", behaviour.DateOf(2014, 12, 30)},
}

// World makes up a world of so many people, at least one.
func World(seed uint64, people int) *W { return world(seed, people, names) }

// Numbered makes up a world in which people are called by numbers of at most six digits,
// without a zero before them.
func Numbered(seed uint64, people int) *W { return world(seed, people, numbers) }

func world(seed uint64, people int, names func(r *rand.Rand, people int) []string) *W {
	r := rand.New(rand.NewPCG(seed, 1))
	place := places[seed%uint64(len(places))]
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
