package roll

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// FuzzOpen opens, reads and searches arbitrary bytes.
func FuzzOpen(f *testing.F) {
	for i, n := range []int{0, 1, 30, 3000} {
		b, _ := write(f, people(rand.New(rand.NewPCG(1, 1)), n, 3, 1+i%2), 3, 1+i%2)
		f.Add(b, "0000100,")
	}
	f.Fuzz(func(t *testing.T, b []byte, user string) {
		r, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("open: %v does not say that the roll is corrupt", err)
			}
			return
		}
		it := r.Iterator()
		it.SeekGE([]byte(user))
		if _, err := readAll(r); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("read: %v does not say that the roll is corrupt", err)
		}
	})
}

// FuzzBlock reads arbitrary bytes as a raw block, without the checksum that protects it in a
// file. The users must be in order and within the limits of the footer.
func FuzzBlock(f *testing.F) {
	for _, days := range []int{1, 3} {
		for _, kinds := range []int{3, 300} {
			bb := blockBuilder{oneDate: days == 1, lists: kinds > mostInWord}
			var before []byte
			for _, e := range people(rand.New(rand.NewPCG(2, 2)), 20, kinds, days) {
				bb.add(before, &e, day)
				before = e.User
			}
			f.Add(bytes.Clone(bb.finish()), int64(bb.users), uint8(days), uint16(kinds), "0000100,")
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, users int64, days uint8, kinds uint16, target string) {
		b := block{span: behaviour.Span{From: day, To: day + max(behaviour.Date(days), 1) - 1}, ids: int(kinds) % 1025}
		if b.ids <= mostInWord {
			b.all = activity.First(b.ids).Word()
		}
		var e Entry
		if b.begin(raw, users) == "" {
			b.seek([]byte(target), &e)
		}
		if b.begin(raw, users) != "" {
			return
		}
		var before []byte
		for b.left > 0 && b.next(&e) == "" {
			if bytes.Compare(before, e.User) >= 0 {
				t.Fatalf("user %q after %q", e.User, before)
			}
			before = append(before[:0], e.User...)
			if e.Records < 1 || len(e.Days) == 0 {
				t.Fatalf("%+v is no entry", e)
			}
			for i, d := range e.Days {
				if !b.span.Has(d.Date) || e.Kinds(i).Empty() || !e.Kinds(i).Without(activity.First(b.ids)).Empty() || i > 0 && e.Days[i-1].Date >= d.Date {
					t.Fatalf("%+v: day %d cannot be", e, i)
				}
			}
		}
	})
}

// indexBytes returns the bytes of an index.
func indexBytes(blocks []blockInfo, last []byte) (b []byte) {
	var x indexBuilder
	for i := range blocks {
		x.add(&blocks[i])
	}
	_, _, _ = x.write(last, func(part []byte) error { b = append(b, part...); return nil })
	return b
}

// FuzzTail parses arbitrary bytes as index and as footer.
func FuzzTail(f *testing.F) {
	meta := Meta{IDs: ids(4), Span: behaviour.Span{From: day, To: day + 9}, Users: 5, UserDays: 6, Records: 7}
	foot := appendFooter(nil, &footer{meta: meta, indexLen: 8, indexCRC: 9})
	f.Add(foot[:len(foot)-trailerLen])
	f.Add(indexBytes([]blockInfo{{stored: 5, raw: 6, users: 7, first: []byte("ab")}, {stored: 5, raw: 6, users: 7, first: []byte("ac")}}, []byte("ad")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if foot, err := parseFooter(b); err == nil {
			again, err := parseFooter(appendFooter(nil, foot)[:len(appendFooter(nil, foot))-trailerLen])
			if err != nil || again.meta.Users != foot.meta.Users || again.meta.Span != foot.meta.Span {
				t.Errorf("%+v is read back as %+v, %v", foot, again, err)
			}
		}
		blocks, last, err := parseIndex(b)
		if err != nil {
			return
		}
		again, lastAgain, err := parseIndex(indexBytes(blocks, last))
		if err != nil || len(again) != len(blocks) || !bytes.Equal(last, lastAgain) {
			t.Errorf("an index of %d blocks is read back with %d, %v", len(blocks), len(again), err)
		}
	})
}
