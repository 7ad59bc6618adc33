package explain

import (
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
)

// TestLargeTablesAreSampled counts the regions that are examined. Days outside the query do not
// change the number. The size of the table does not change it for a list of users.
func TestLargeTablesAreSampled(t *testing.T) {
	day := behaviour.Span{From: 16_000, To: 16_000}
	regions := make([]split.Region, 100)
	for i := range regions {
		regions[i].Start = []byte{byte(i)}
	}
	for _, c := range []struct {
		users int64 // of each roll of each of four days
		span  behaviour.Span
		all   bool
		want  int
	}{
		{mostRolled / 8, behaviour.Span{From: 16_000, To: 16_003}, true, 100},
		{mostRolled, day, true, 50},
		{mostRolled, behaviour.Span{From: 16_000, To: 16_003}, true, 20},
		{mostRolled, behaviour.Span{From: 16_000, To: 16_003}, false, 100},
		{1000 * mostRolled, behaviour.Span{From: 16_000, To: 16_003}, true, 1},
	} {
		m := new(manifest.Table)
		for d := range behaviour.Date(4) {
			m.Files = append(m.Files, manifest.File{Users: c.users, Span: behaviour.Span{From: 16_000 + d, To: 16_000 + d}})
		}
		users := new(userlist.List)
		if c.all {
			users = userlist.All()
		}
		if got := sample(m, users, c.span, regions); len(got) != c.want {
			t.Errorf("rolls of %d users a day, %s, all %t: %d regions, want %d", c.users, c.span, c.all, len(got), c.want)
		}
	}
	m := &manifest.Table{Files: []manifest.File{{Users: 1 << 40, Span: day}}}
	if got := sample(m, userlist.All(), day, regions[:1]); len(got) != 1 {
		t.Errorf("of one region %d are looked at", len(got))
	}
}
