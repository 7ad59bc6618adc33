package hdfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
)

// uploads is the number of times that an upload is tried, with waits of 1, 2, 4, … seconds.
// In this time the NameNode can learn which DataNode is gone, if it avoids stale ones
// (dfs.namenode.avoid.write.stale.datanode). It can also select other DataNodes, if the
// cluster has more than a few.
const uploads = 6

// closing limits the wait until the first replica of the last block is reported.
const closing = 60 * time.Second

// A file is one block, because between two blocks the library fails if the
// NameNode has not yet received the report of the first. maxBlock limits the size of this
// block. blockUnit is the smallest block that a NameNode allows by default.
const (
	maxBlock  = 2 << 30
	blockUnit = 1 << 20
)

// uploadPiece is the number of bytes between two checks of the context.
const uploadPiece = 1 << 20

// pending is a file being written. Only one goroutine may use it.
type pending struct {
	place
	spool
	s       *system
	ctx     context.Context
	name    string // the final name
	tmp     string // the temporary path
	new     bool   // the final name must not exist
	cleared bool   // the file at tmp may have been removed by this process
	result  error  // result of Commit, once done
	done    bool
}

// Create makes the empty file with the temporary name.
func (s *system) Create(ctx context.Context, name string) (dfs.Pending, error) {
	return s.createFile(ctx, name, false)
}

// CreateNew is like Create, but Commit uses a rename that does not replace a file.
func (s *system) CreateNew(ctx context.Context, name string) (dfs.Pending, error) {
	return s.createFile(ctx, name, true)
}

func (s *system) createFile(ctx context.Context, name string, isNew bool) (dfs.Pending, error) {
	p, err := s.change(ctx, "create", name)
	if err != nil {
		return nil, err
	}
	w, err := s.create(ctx, p, name)
	if err != nil {
		return nil, p.named("create", name, err)
	}
	w.new = isNew
	return w, nil
}

// Scratch is the same as Create: HDFS has no cheaper way to write a file.
func (s *system) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	return s.Create(ctx, name)
}

func (s *system) create(ctx context.Context, p place, name string) (*pending, error) {
	if strings.HasSuffix(name, "/") {
		return nil, syscall.EISDIR
	}
	switch fi, err := p.stat(ctx, p.path); {
	case err == nil && fi.IsDir():
		return nil, syscall.EISDIR
	case err != nil && !errors.Is(err, fs.ErrNotExist) && exception(err) != notFound:
		return nil, err
	}
	dir, base := path.Split(p.path)
	if err := p.mkdirAll(ctx, path.Clean(dir)); err != nil {
		return nil, err
	}
	w := &pending{place: p, s: s, ctx: ctx, name: name, tmp: dir + dfs.PendingName(base), spool: spool{temp: s.cfg.Temp}}
	if err := w.mark(); err != nil {
		return nil, err
	}
	return w, nil
}

// mark makes the empty file at w.tmp, and checks that its storage is supported.
func (w *pending) mark() error {
	out, err := w.open()
	if err == nil {
		err = w.call(w.ctx, replacing, func(*hdfs.Client) error { return out.Close() })
	}
	if err != nil {
		return err
	}
	fi, err := w.stat(w.ctx, w.tmp)
	if err == nil {
		err = supported(fi)
	}
	if err != nil {
		w.clear(w.ctx)
	}
	return err
}

// supported returns an error for files that the library would read or write incorrectly.
func supported(fi *hdfs.FileInfo) error {
	status := fi.Sys().(*hdfs.FileStatus)
	switch {
	case status.GetFileEncryptionInfo() != nil:
		return fmt.Errorf("%w: it is in an encryption zone: name another directory", errors.ErrUnsupported)
	case status.GetEcPolicy() != nil:
		return fmt.Errorf("%w: its directory is erasure-coded: name another directory", errors.ErrUnsupported)
	}
	return nil
}

// open begins the file at w.tmp, which must not exist.
func (w *pending) open() (*hdfs.FileWriter, error) {
	var out *hdfs.FileWriter
	err := w.call(w.ctx, replacing, func(client *hdfs.Client) error {
		d, err := client.ServerDefaults()
		if err != nil {
			return err
		}
		whole := min((w.size+blockUnit-1)/blockUnit*blockUnit, maxBlock)
		out, err = client.CreateFile(w.tmp, d.Replication, max(d.BlockSize, whole), os.FileMode(0o666&^w.umask))
		if err == nil {
			w.cleared = false
		} else if passing(err) {
			w.tmp = path.Join(path.Dir(w.tmp), dfs.PendingName(path.Base(w.path))) // the file at the old name may exist
		}
		return err
	})
	return out, err
}

// finish closes the file. HDFS closes it when its last block has been reported.
func (w *pending) finish(out *hdfs.FileWriter) error {
	began := time.Now()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := out.Close()
		if !hdfs.IsErrReplicating(err) {
			return err
		}
		if time.Since(began) > closing {
			return fmt.Errorf("%w: no DataNode reported its last block within %v", dfs.ErrUnavailable, closing)
		}
		if err := pipe.Sleep(w.ctx, wait); err != nil {
			return err
		}
	}
}

func (w *pending) Write(b []byte) (int, error) {
	if w.done {
		return 0, w.named("write", w.name, fs.ErrClosed)
	}
	if w.ctx.Err() != nil {
		return 0, w.named("write", w.name, context.Cause(w.ctx))
	}
	n, err := w.spool.Write(b)
	if err != nil {
		return n, &fs.PathError{Op: "write", Path: w.name, Err: err} // with the local file's name, because the local disk is full
	}
	return n, nil
}

// Commit uploads the file and makes it visible. A second Commit returns the result of
// the first. Commit after Abort returns fs.ErrClosed. After an error the file is
// gone, or Sweep removes it.
func (w *pending) Commit() error {
	if w.done {
		return w.result
	}
	w.done = true
	defer w.spool.close()
	err := w.publish()
	if err != nil {
		w.clear(context.WithoutCancel(w.ctx))
	}
	w.result = w.named("commit", w.name, err)
	return w.result
}

func (w *pending) publish() error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if w.spool.err != nil {
		return w.spool.err
	}
	if err := w.upload(); err != nil {
		return err
	}
	fi, err := w.stat(w.ctx, w.tmp)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrSwept
	}
	if err != nil {
		return err
	}
	if fi.Size() != w.size {
		return fmt.Errorf("%d bytes were written, HDFS has %d", w.size, fi.Size())
	}
	if err := w.s.locks.Held(w.ctx); err != nil {
		return err
	}
	if w.new {
		return w.cluster.publish(w.ctx, w.tmp, w.path)
	}
	return w.rename(w.ctx, replacing, w.tmp, w.path)
}

// upload writes the file under its temporary name. It retries after most errors.
func (w *pending) upload() error {
	if w.size == 0 {
		return nil // it is already complete
	}
	for try, wait := 1, time.Second; ; try, wait = try+1, 2*wait {
		err := w.write()
		if err == nil || ended(w.ctx, err) {
			return err
		}
		if try == uploads {
			return fmt.Errorf("%w: %d uploads failed, the last with: %w", dfs.ErrUnavailable, uploads, plain(err))
		}
		if err := pipe.Sleep(w.ctx, wait); err != nil {
			return err
		}
	}
}

// ended reports whether another upload would end the same way.
func ended(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrSwept) || errors.Is(err, dfs.ErrUnavailable) {
		return true
	}
	switch exception(err) {
	case accessControl, nameQuota, spaceQuota, typeQuota, leaseExpired, notFound:
		return true
	}
	return false
}

// write makes one upload.
func (w *pending) write() error {
	if err := w.clear(w.ctx); err != nil {
		return err
	}
	out, err := w.open()
	if err != nil {
		return err
	}
	if err := w.copy(out); err != nil {
		out.Close() // releases the connection; the file itself is removed
		return err
	}
	return w.finish(out)
}

func (w *pending) copy(out *hdfs.FileWriter) error {
	from, buf := w.reader(), make([]byte, min(w.size, uploadPiece))
	for {
		n, err := io.ReadFull(from, buf)
		if err == io.EOF {
			return nil
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return err
		}
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if _, err := io.Copy(out, bytes.NewReader(buf[:n])); err != nil {
			return err
		}
		breakpoint.Reach(breakpoint.Upload)
	}
}

// clear removes the file at w.tmp. The file must exist, unless an earlier call
// may have removed it.
func (w *pending) clear(ctx context.Context) error {
	return w.call(ctx, replacing, func(client *hdfs.Client) error {
		err := client.Remove(w.tmp)
		if !errors.Is(err, fs.ErrNotExist) && exception(err) != notFound {
			w.cleared = true
			return err
		}
		if w.cleared {
			return nil
		}
		return ErrSwept
	})
}

// Abort discards the file. If it cannot remove the file, Sweep removes it later.
func (w *pending) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.result = w.named("commit", w.name, fs.ErrClosed)
	w.spool.close()
	w.clear(context.WithoutCancel(w.ctx))
}
