package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"usertrail/internal/dfs"
)

// maxHolder bounds what is believed of a lock file: it may be any file.
const maxHolder = 200

type lock struct {
	name string
	l    *flock.Flock
}

// Lock takes the lock called name and makes the directories above it. It must
// not lie in a directory that its holder removes.
func (local) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	if err := ready(ctx, "lock", name); err != nil {
		return nil, err
	}
	if err := mkdirAll(filepath.Dir(name)); err != nil {
		return nil, named("lock", name, err)
	}
	l := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
	taken, err := tryLock(l)
	if err != nil {
		return nil, named("lock", name, err)
	}
	if !taken {
		return nil, fmt.Errorf("lock %s: %w%s", name, dfs.ErrLocked, holder(name))
	}
	if err := os.WriteFile(name, []byte(self()), 0o666); err != nil {
		l.Unlock()
		return nil, named("lock", name, err)
	}
	return &lock{name: name, l: l}, nil
}

// tryLock tries for as long as Held may share the lock.
func tryLock(l *flock.Flock) (bool, error) {
	for n := 0; ; n++ {
		taken, err := l.TryLock()
		if taken || err != nil || n == 3 {
			return taken, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Unlock lets go of the lock; a second time it does nothing. The file stays:
// were it removed, another process that had it open already would lock a file
// that no one else can find.
func (l *lock) Unlock() error {
	return named("unlock", l.name, l.l.Unlock())
}

// self is what a lock file says of its holder.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("process %d on %s since %s\n", os.Getpid(), host, time.Now().Format(time.RFC3339))
}

// holder says who holds a lock, if its file does.
func holder(name string) string {
	if who := told(name); who != "" {
		return ": " + who
	}
	return ""
}

// told is what a lock file tells.
func told(name string) string {
	b, err := os.ReadFile(name)
	if err != nil || len(b) > maxHolder {
		return ""
	}
	return strings.TrimSpace(string(b))
}
