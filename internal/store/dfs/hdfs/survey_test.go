package hdfs_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/test/clustertest"
)

// TestQuotasBoundTheRoom sets a quota of space above a directory that does not exist.
func TestQuotasBoundTheRoom(t *testing.T) {
	c := clustertest.Get(t)
	fsys, dir := as(c, ""), c.HDFS(t)
	write(t, fsys, dfs.Join(dir, "file"), text(100_000))
	_, path, _ := strings.Cut(strings.TrimPrefix(dir, "hdfs://"), "/")
	c.Admin(t, "space", dir, "10000000000")
	s, err := dfs.Survey(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	room, err := s.Room(t.Context(), dfs.Join(dir, "ns", "table"))
	if err != nil {
		t.Fatal(err)
	}
	// The cluster keeps up to three copies, and its disks may have less free space.
	if room.Bytes <= 0 || room.Bytes > 10_000_000_000-100_000 || room.Limit != "the quota of /"+path && room.Limit != "free space" {
		t.Errorf("below a quota of 10 GB there is room %+v", room)
	}
	c.Admin(t, "space", dir, "300000")
	room, err = s.Room(t.Context(), dir)
	if err != nil || room.Bytes > 200_000 || room.Limit != "the quota of /"+path {
		t.Errorf("below a quota of 300 kB there is room %+v, %v", room, err)
	}
	c.Admin(t, "space", dir, "100000")
	if room, err = s.Room(t.Context(), dir); err != nil || room.Bytes != 0 {
		t.Errorf("below a quota that is used up there is room %+v, %v", room, err)
	}
}

// TestAnOpenFileIsNotTruncated tries Held on a file that is not a lock.
func TestAnOpenFileIsNotTruncated(t *testing.T) {
	c := clustertest.Get(t)
	fsys, name := as(c, ""), dfs.Join(c.HDFS(t), "file")
	write(t, fsys, name, []byte("of others"))
	s, err := dfs.Survey(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	held, who, err := s.Held(t.Context(), name)
	if err != nil || held || who != "" {
		t.Errorf("a file that nobody writes is held: %t, by %q, %v", held, who, err)
	}
	expectFile(t, fsys, name, []byte("of others"))
}

// TestWhoMayNotWriteIsTold tries a directory of another user.
func TestWhoMayNotWriteIsTold(t *testing.T) {
	c := clustertest.Get(t)
	dir := c.HDFS(t)
	bob, err := dfs.Survey(as(c, "bob"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Try(t.Context(), dfs.Join(dir, "new")); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "user bob") {
		t.Errorf("%v, want fs.ErrPermission with the user", err)
	}
	if room, err := bob.Room(t.Context(), dir); err != nil || room.Bytes <= 0 {
		t.Errorf("bob sees the room %+v, %v", room, err)
	}
}
