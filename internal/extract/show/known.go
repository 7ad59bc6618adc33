package show

import (
	"bytes"
	"context"
	"errors"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// known looks a user up in the rolls.
type known struct {
	ctx    context.Context
	table  table.Table
	region split.Region
	key    []byte
	kinds  activity.Set
	mute   bool // the rolls do not list days, so only the rows show them
}

func rollsOf(ctx context.Context, t table.Table, a *Asked, kinds activity.Set) *known {
	k := &known{ctx: ctx, table: t, key: a.key, kinds: kinds}
	if a.layout.Traits().Together {
		k.region = split.Region{Start: a.key, End: append(bytes.Clone(a.key), 0)}
	}
	return k
}

// lastDay returns the last day of a span on which the user may have events of the kinds. It
// checks recent days first, because most users have recent events and a table has a roll for
// each night.
func (k *known) lastDay(s behaviour.Span) (day behaviour.Date, some bool, err error) {
	var from behaviour.Date
	to := s.To
	for days := behaviour.Date(1); ; days *= 4 {
		from = max(s.From, to-days+1)
		if some, err = k.did(behaviour.Span{From: from, To: to}); err != nil || k.mute || some {
			break
		}
		if from == s.From {
			return 0, false, nil
		}
		to = from - 1
	}
	for err == nil && some && !k.mute && from < to {
		half := from + (to-from+1)/2
		var late bool
		if late, err = k.did(behaviour.Span{From: half, To: to}); late {
			from = half
		} else {
			to = half - 1
		}
	}
	return to, some, err
}

// did reports whether the user may have events of the kinds in a span.
func (k *known) did(s behaviour.Span) (bool, error) {
	users, err := k.table.Users(k.ctx, k.region, s)
	if err != nil {
		return false, err
	}
	if _, told := users.(table.Daily); !told {
		k.mute = true
		return true, users.Close()
	}
	some := users.SeekGE(k.key) && bytes.Equal(users.User().Key, k.key) && users.User().Did.Meets(k.kinds)
	return some, errors.Join(users.Err(), users.Close())
}
