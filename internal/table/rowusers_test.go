package table_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
)

// scattered is a table of users whose rows lie apart: each has a play, and each tenth an
// order.
type scattered struct {
	table.Table
	schema *behaviour.Schema
	users  int
	reads  int
	held   uint64 // the most that is held at the end of a read
}

func (s *scattered) Info() table.Info { return table.Info{Layout: layout.Hashed{}, Schema: s.schema} }

func (s *scattered) user(i int) []byte { return fmt.Appendf(nil, "user-%07d", i*7919%s.users) }

func (s *scattered) Read(_ context.Context, _ table.Query, emit func(*cell.Cell) error) error {
	s.reads++
	e := layout.Hashed{}.Encoder(s.schema, "d")
	var row []byte
	for i := range s.users {
		for kind := range s.schema.Kinds {
			if kind > 0 && i%10 > 0 {
				continue
			}
			r := behaviour.Record{User: s.user(i), Kind: kind, Date: 16000, Time: 16000 * 86400 * 1_000_000, ID: int64(i), Values: [][]byte{[]byte("x")}}
			row = layout.Hashed{}.AppendRow(row[:0], s.schema, &r)
			e.Add(&r)
			if err := e.Cells(row, emit); err != nil {
				return err
			}
		}
	}
	s.held = max(s.held, testkit.Heap())
	return nil
}

// from is how many users have keys from one on, and how many of them have orders.
func (s *scattered) from(key []byte) (users, orders int) {
	for i := range s.users {
		if bytes.Compare(s.user(i), key) < 0 {
			continue
		}
		if users++; i%10 == 0 {
			orders++
		}
	}
	return users, orders
}

// TestUsersWhoseRowsLieApart walks over more users than may be held: each comes once and in
// order, with all that the user did, whatever the memory is.
func TestUsersWhoseRowsLieApart(t *testing.T) {
	fields := []behaviour.Field{{Name: "title", Type: behaviour.String}}
	schema := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: fields}, {ID: 2, Name: "order", Fields: fields}}}
	span := behaviour.Span{From: 16000, To: 16000}
	for _, c := range []struct {
		users  int
		memory int64 // 0 is the default
		most   uint64
	}{{200_000, 0, 8 << 20}, {3000, 64 << 10, 8 << 20}, {3000, 1, 8 << 20}, {3000, 64 << 20, 8 << 20}} {
		if c.memory == 1 {
			c.users = 30
		}
		s := &scattered{schema: schema, users: c.users}
		ctx := t.Context()
		if c.memory > 0 {
			ctx = table.WithWalkMemory(ctx, c.memory)
		}
		before := testkit.Heap()
		from, to := fmt.Appendf(nil, "user-%07d", c.users/10), []byte("user-9")
		users := table.RowUsers(ctx, s, split.Region{Start: from, End: to}, span)
		var last []byte
		n, orders := 0, 0
		for users.Next() {
			u := users.User()
			if bytes.Compare(u.Key, last) <= 0 || bytes.Compare(u.Key, from) < 0 {
				t.Fatalf("%q comes after %q", u.Key, last)
			}
			if did := activity.Of(0); u.Did != did && u.Did != activity.Of(0, 1) {
				t.Fatalf("%q did %v", u.Key, u.Did)
			}
			if u.Did.Has(1) {
				orders++
			}
			last = slices.Clone(u.Key)
			n++
		}
		if err := users.Err(); err != nil {
			t.Fatal(err)
		}
		if err := users.Close(); err != nil {
			t.Error(err)
		}
		want, wantOrders := s.from(from)
		if n != want || orders != wantOrders {
			t.Errorf("%d users in %d bytes: %d came, %d with orders; want %d and %d", c.users, c.memory, n, orders, want, wantOrders)
		}
		if (s.reads == 1) != (c.memory == 64<<20) {
			t.Errorf("%d users in %d bytes: the rows were read %d times", c.users, c.memory, s.reads)
		}
		if s.held > before+c.most {
			t.Errorf("%d users in %d bytes: %d bytes were held", c.users, c.memory, s.held-before)
		}
	}
}
