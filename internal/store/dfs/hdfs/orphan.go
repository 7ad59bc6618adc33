package hdfs

import (
	"context"
	"errors"
	"math"
	"regexp"

	"github.com/colinmarc/hdfs/v2"
)

// A lock whose holder has died is free a minute later, and at once for a process of the
// same machine, which sees that the holder is dead. It takes the lease away (recoverLease).
//
// It must not take the lease of a later holder. Three steps prevent that:
//
//   - The process attribute names the client of the dead holder. HDFS names the client
//     that has the lease. Both names must be equal.
//   - The process removes the attribute, which succeeds for one process only.
//   - It compares the names once more.
//
// One case is left: the minute ends just then, and a client on another machine gets the
// lease before the last request. That client checks its lease after it has signed, and
// returns ErrLocked if the lease is gone.

// An owner is the client that has the lease of a file. The zero owner is unknown.
type owner struct {
	client string
	self   bool // it is this process's client
}

// Texts with which the NameNode refuses to open a file that is already open.
var (
	ownedBy     = regexp.MustCompile(`(?s)this file lease is currently owned by (\S+) on `)
	ownedBySelf = regexp.MustCompile(`(?s)because (\S+) is already the current lease holder`)
)

// ownerOf reads the owner from the exception with which HDFS refuses to open an open file.
func ownerOf(err error) owner {
	var remote hdfs.Error
	if !errors.As(err, &remote) {
		return owner{}
	}
	if m := ownedBySelf.FindStringSubmatch(remote.Message()); m != nil {
		return owner{client: m[1], self: true}
	}
	if m := ownedBy.FindStringSubmatch(remote.Message()); m != nil {
		return owner{client: m[1]}
	}
	return owner{}
}

// owner asks which client has the lease of a lock that this process holds. If the NameNode's
// text is not known, owner assumes that this process has the lease.
func (l *lock) owner(ctx context.Context) (owner, error) {
	var again *hdfs.FileWriter
	err := l.call(ctx, replacing, func(client *hdfs.Client) (err error) {
		again, err = client.Append(l.path)
		return err
	})
	switch {
	case err == nil: // the lease was taken away, and this process has it again
		l.w = again
		return l.owner(ctx)
	case exception(err) != alreadyCreated && exception(err) != recovering:
		return owner{}, err
	}
	o := ownerOf(err)
	o.self = o.self || o.client == ""
	return o, nil
}

// inherit frees the lock if the process that has the lease ran on this machine and is dead.
// It reports whether another try may get the lock.
func (l *lock) inherit(ctx context.Context, o owner) bool {
	if o.client == "" || o.self {
		return false
	}
	attrs, err := l.attributes(ctx)
	if err != nil {
		return false
	}
	p, ok := parseProcess(attrs[processAttribute])
	if !ok || p.client != o.client || p.fate() != dead {
		return false
	}
	if err := l.once(replacing, func(client *hdfs.Client) error { return client.RemoveXAttr(l.path, processAttribute) }); err != nil {
		return false // another process has removed the attribute
	}
	var w *hdfs.FileWriter
	err = l.call(ctx, replacing, func(client *hdfs.Client) (err error) {
		w, err = client.Append(l.path)
		return err
	})
	switch {
	case err == nil: // the minute is over
		return l.call(ctx, replacing, func(*hdfs.Client) error { return w.Close() }) == nil
	case ownerOf(err) != o:
		return false
	}
	return l.takeAway(ctx) == nil
}

// takeAway ends the lease of its owner. A lock file has no bytes, so HDFS need not wait for
// DataNodes.
func (l *lock) takeAway(ctx context.Context) error {
	return l.call(ctx, taking, func(client *hdfs.Client) error {
		_, err := client.Truncate(l.path, math.MaxInt64)
		return err
	})
}
