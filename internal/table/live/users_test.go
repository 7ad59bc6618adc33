package live_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
)

// asked reports whether the table of s reads its rolls, which know the users that are
// absent, and whether all users that it names are certain to be there.
func asked(t *testing.T, s *live.Store) (rolls, sure bool) {
	t.Helper()
	opened, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	span := behaviour.Span{From: behaviour.DateOf(2014, 1, 1), To: behaviour.DateOf(2014, 12, 31)}
	find := func() table.Users {
		users, err := opened.Users(t.Context(), split.Region{}, span)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { users.Close() })
		return users
	}
	rolls = !find().SeekGE([]byte("zzz,"))
	sure = true
	named, users := 0, find()
	for users.Next() {
		named++
		sure = sure && users.User().Sure
	}
	if err := users.Err(); err != nil || named == 0 {
		t.Fatalf("%d users are named, %v", named, err)
	}
	return rolls, sure
}

// TestRollsAreAskedWhereTheyKnowEverybody loads tables that differ in who may have rows
// there, and for how long.
func TestRollsAreAskedWhereTheyKnowEverybody(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	unlimited := c.Create(t, "d")
	for _, x := range []struct {
		what        string
		table       string
		others      bool
		rolls, sure bool
	}{
		{"a table of ours alone", unlimited, false, true, true},
		{"the same table with another catalog, which has rows of others", unlimited, true, false, true},
		{"a table whose rows expire, but not yet", c.Create(t, "d", "TTL=2000000000"), false, true, true},
		{"a table whose rows may expire in between", c.Create(t, "d", "TTL="+expiring()), false, true, false},
	} {
		s := connect(t, c, x.table, live.Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(t.TempDir(), "catalog"), Others: x.others})
		tabletest.Load(t, tabletest.Puts, s)
		if rolls, sure := asked(t, s); rolls != x.rolls || sure != x.sure {
			t.Errorf("%s: rolls are asked: %t, want %t; users are sure: %t, want %t", x.what, rolls, x.rolls, sure, x.sure)
		}
	}
}

// expiring is a TTL in seconds that ends between the first day of 2014 and the days of
// the suite's rows.
func expiring() string {
	return strconv.FormatInt(int64(time.Since(time.Date(2014, 3, 1, 0, 0, 0, 0, time.UTC))/time.Second), 10)
}

// TestWhoMayNotReadKnowsNothingOfOthers loads by a user who may only write.
func TestWhoMayNotReadKnowsNothingOfOthers(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name := c.Create(t, "d")
	c.Admin(t, "grant", "writer", "W", name)
	o := live.Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(t.TempDir(), "catalog"), Family: "d"}
	o.Client = hbase.Config{User: "writer"}
	tabletest.Load(t, tabletest.Puts, connect(t, c, name, o))
	o.Client = hbase.Config{}
	if rolls, _ := asked(t, connect(t, c, name, o)); rolls {
		t.Error("the rolls are asked though the load could not see who was there before")
	}
}
