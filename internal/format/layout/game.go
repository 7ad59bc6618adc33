package layout

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
)

// Game has one row for each event, with keys as a game centre writes them:
//
//	row        account _ behaviour _ time _ column ID    u42_play_2013-04-01 00:00:00_0000000000000000042
//	qualifier  field
//	timestamp  the behaviour's time in milliseconds
//	value      the field's value, as package behaviour encodes it; null is no cell
//
// The account is the user key. The behaviour's name is escaped like the account. The time
// is in UTC, in seconds; a marker, as in Reversed, keeps the microseconds that the timestamp
// would lose.
//
// The published design has three faults that this layout avoids. It has no column ID, so it
// keeps only one of two events of the same behaviour and second. It does not escape the
// separator, so "a_b" with "play" and "a" with "b_play" are one row. It writes local times,
// and one local hour occurs twice when the clock is put back.
//
// One user, behaviour and span are one range: start and stop row, and a limit. Each further
// behaviour is a further range, in order of time. The rows of a user are not in order of
// time, and cannot be computed. Fields are columns, so a server can skip rows whose fields
// have other values than the query wants.
type Game struct{}

var _ = Register(Game{})

// gameTail is the length of _ time _ column ID.
const gameTail = 1 + utcTextLen + 1 + idDigits

// Name implements Layout.
func (Game) Name() string { return "game" }

// Traits implements Layout.
func (Game) Traits() Traits {
	return Traits{
		Together: true, DayRows: true, OneRecord: true,
		Row: RowParts{Kind: true, Date: true, Second: true, ID: true}, FieldCells: AllFields, MicrosCell: true,
		Ranges: Limits{Kinds: true, Dates: true, Times: true},
	}
}

// Fits implements Layout.
func (Game) Fits(_ *behaviour.Schema, r *behaviour.Record) error { return fitsUTCText(r.Time) }

// AppendRow implements Layout.
func (Game) AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte {
	dst = append(appendEscaped(appendUserKey(dst, r.User), s.Kinds[r.Kind].Name), sep)
	dst = append(appendUTCText(dst, r.Time), sep)
	return appendDigits(dst, uint64(r.ID), idDigits)
}

// AppendUserKey implements Layout.
func (Game) AppendUserKey(dst, user []byte) []byte { return appendUserKey(dst, user) }

// AppendUser implements Layout.
func (Game) AppendUser(dst, key []byte) ([]byte, error) { return parseUserKey(dst, key) }

// UserKey implements Layout.
func (Game) UserKey(row []byte) []byte {
	if key, _, _ := cutGame(row); key != nil {
		return key[:len(key):len(key)]
	}
	return nil
}

// cutGame divides a row into the user key, the escaped name and the rest. The key is nil if row is no
// row of the layout.
func cutGame(row []byte) (key, name, rest []byte) {
	n, end := userKeyLen(row), len(row)-gameTail
	if n == 0 || end <= n || row[end] != sep || row[end+1+utcTextLen] != sep {
		return nil, nil, nil
	}
	return row[:n], row[n:end], row[end+1:]
}

// Reads implements Layout. A user has a range for each behaviour, from the first second
// of the query up to the separator's successor after the last second.
func (Game) Reads(s *behaviour.Schema, q Want) (*Reads, error) {
	times, err := q.times(s)
	if err != nil {
		return nil, err
	}
	seconds, some := utcRangeOf(times)
	var names [][]byte
	for _, k := range q.Kinds {
		names = append(names, append(appendEscaped(nil, s.Kinds[k].Name), sep))
	}
	slices.SortFunc(names, bytes.Compare)
	var start, stop []byte
	return &Reads{
		Timed:   true,
		Columns: Columns{Prefixes: plainPrefixes(s, q)},
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			if !some {
				return true
			}
			for _, name := range names {
				start = append(append(append(start[:0], key...), name...), seconds.first...)
				stop = append(append(append(append(stop[:0], key...), name...), seconds.last...), sep+1)
				if !yield(start, stop) {
					return false
				}
			}
			return true
		},
	}, nil
}

// gameRows reads rows of Game.
type gameRows struct {
	kinds map[string]int // by escaped name
	dates dates
}

func newGameRows(s *behaviour.Schema) *gameRows {
	g := &gameRows{kinds: map[string]int{}, dates: dates{zone: s.Zone}}
	for i, k := range s.Kinds {
		g.kinds[string(appendEscaped(nil, k.Name))] = i
	}
	return g
}

var errNotGame = errors.New("not a row of the layout game: account_behaviour_time_ID")

func (g *gameRows) parse(row []byte) (oneRow, error) {
	key, name, rest := cutGame(row)
	if key == nil {
		return oneRow{}, errNotGame
	}
	second, ok1 := parseUTCText(rest[:utcTextLen])
	id, ok2 := parseID(rest[utcTextLen+1:])
	if !ok1 || !ok2 {
		return oneRow{}, errNotGame
	}
	kind, ok := g.kinds[string(name)]
	if !ok {
		return oneRow{}, fmt.Errorf("no behaviour is called %q", name)
	}
	date, err := g.dates.at(second)
	return oneRow{key: key, kind: kind, date: date, id: id, first: second / 1000, last: second/1000 + 999}, err
}

// Teller implements Layout.
func (Game) Teller(s *behaviour.Schema) Teller {
	return &oneRecordTeller{parse: newGameRows(s).parse, plains: plainsOf(s), user: parseUserKey}
}

// Encoder implements Layout.
func (Game) Encoder(s *behaviour.Schema, family string) Encoder {
	return newOneRecordEncoder(s, family)
}

// FieldEncoder implements Widening.
func (Game) FieldEncoder(s *behaviour.Schema, family string) Encoder {
	return newOneRecordFields(s, family)
}

// Decoder implements Layout.
func (Game) Decoder(s *behaviour.Schema, q Want) Decoder {
	return newOneRecordDecoder(s, q, newGameRows(s).parse)
}
