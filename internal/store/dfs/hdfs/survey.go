package hdfs

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/store/dfs"
)

// quotaDepth is the number of directories, from the bottom up, whose quota is checked. To
// response, the NameNode counts everything below a directory. The top directories are therefore
// not checked; the directories of the table, its namespace and usertrail are.
const quotaDepth = 3

// noQuota is the size from which on a quota counts as unlimited.
const noQuota = 1 << 62

// Room implements dfs.Surveyor. It allows for the copies that HDFS keeps by default.
func (s *system) Room(ctx context.Context, dir string) (dfs.Room, error) {
	p, err := s.nearest(ctx, dir)
	if err != nil {
		return dfs.Room{}, err
	}
	var room dfs.Room
	err = p.call(ctx, replacing, func(client *hdfs.Client) (err error) {
		room, err = roomAt(client, p.path)
		return err
	})
	return room, p.named("survey", dir, err)
}

func roomAt(client *hdfs.Client, at string) (dfs.Room, error) {
	d, err := client.ServerDefaults()
	if err != nil {
		return dfs.Room{}, err
	}
	stats, err := client.StatFs()
	if err != nil {
		return dfs.Room{}, err
	}
	copies := int64(max(d.Replication, 1))
	room := dfs.Room{Bytes: int64(stats.Remaining) / copies, Limit: "free space"}
	for range quotaDepth {
		if at == "/" {
			break
		}
		sum, err := client.GetContentSummary(at)
		if errors.Is(err, fs.ErrPermission) {
			break // the owner of the directory knows its quotas
		}
		if err != nil {
			return dfs.Room{}, err
		}
		if quota := sum.SpaceQuota(); quota >= 0 && quota < noQuota {
			if left := max(quota-sum.SizeAfterReplication(), 0) / copies; left < room.Bytes {
				room = dfs.Room{Bytes: left, Limit: "the quota of " + at}
			}
		}
		at = path.Dir(at)
	}
	return room, nil
}

// Try implements dfs.Surveyor. The time is the NameNode's.
func (s *system) Try(ctx context.Context, dir string) (time.Time, error) {
	p, err := s.nearest(ctx, dir)
	if err != nil {
		return time.Time{}, err
	}
	name := path.Join(p.path, dfs.PendingName("try"))
	var made time.Time
	err = p.call(ctx, replacing, func(client *hdfs.Client) (err error) {
		made, err = try(client, name)
		return err
	})
	return made, p.named("survey", dir, err)
}

// try makes a file, reads its time and removes it.
func try(client *hdfs.Client, name string) (time.Time, error) {
	if err := client.CreateEmptyFile(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return time.Time{}, err
	}
	fi, err := client.Stat(name)
	if err != nil {
		return time.Time{}, err
	}
	if err := client.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, err
	}
	return fi.ModTime(), nil
}

// Held implements dfs.Surveyor.
func (s *system) Held(ctx context.Context, name string) (held bool, who string, err error) {
	p, err := s.begin(ctx, "survey", name)
	if err != nil {
		return false, "", err
	}
	closed := true
	err = p.call(ctx, asking, func(client *hdfs.Client) (err error) {
		// askClosed changes this request. HDFS would refuse a real truncation that lengthens the file.
		closed, err = client.Truncate(p.path, math.MaxInt64)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist) || exception(err) == notFound:
		return false, "", nil
	case err != nil:
		return false, "", p.named("survey", name, err)
	case closed:
		return false, "", nil
	}
	attrs, err := (&lock{place: p}).attributes(ctx)
	if err != nil {
		return true, "", nil // it was held a moment ago, which is what the caller asked
	}
	if p, ok := parseProcess(attrs[processAttribute]); ok && p.fate() == dead {
		return false, "", nil // the next process that tries gets the lock
	}
	return true, attrs[holderAttribute], nil
}

// Lockable implements dfs.LockTester.
func (s *system) Lockable(ctx context.Context, name string) error {
	p, err := s.begin(ctx, "lock", name)
	if err != nil {
		return err
	}
	fi, err := p.stat(ctx, p.path)
	if err != nil {
		return nil //nolint:nilerr // the lock may not exist, and another method reports other errors
	}
	return p.named("lock", name, isLock(fi))
}

// nearest returns the place of dir, or of the nearest directory above it that exists.
func (s *system) nearest(ctx context.Context, dir string) (place, error) {
	p, err := s.begin(ctx, "survey", dir)
	if err != nil {
		return p, err
	}
	for {
		fi, err := p.stat(ctx, p.path)
		switch {
		case err == nil && !fi.IsDir():
			return p, p.named("survey", dir, dfs.ErrNotDir)
		case err == nil:
			return p, nil
		case !errors.Is(err, fs.ErrNotExist) || p.path == "/":
			return p, p.named("survey", dir, err)
		}
		p.path = path.Dir(p.path)
	}
}
