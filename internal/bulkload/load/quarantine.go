package load

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"sync"
	"unicode/utf8"

	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// A badRecord is a line of a quarantine file. The user corrects its raw text and gives the file
// to bulkload replay.
type badRecord struct {
	Path   string        `json:"path"` // of the delivered file, below the logs' root
	Line   int64         `json:"line"`
	Offset int64         `json:"offset"`
	Reason record.Reason `json:"reason"`
	Detail string        `json:"detail"`
	Raw    string        `json:"raw"`
	Base64 string        `json:"raw_base64,omitempty"` // in place of Raw where that is not UTF-8
	Cut    bool          `json:"cut,omitempty"`        // Raw has the beginning of the record alone
	// SHA256 is the digest of the delivered file's bytes: a file of the same name may have
	// others later. Lines that were written before they told it have none.
	SHA256 string `json:"sha256,omitempty"`
}

// replayEnding is added to a delivered file's name, for records that were bad again in a
// replay.
const replayEnding = ".replay"

func newBadRecord(path string, r *record.Reject) badRecord {
	b := badRecord{Path: path, Line: r.Line, Offset: r.Offset, Reason: r.Reason, Detail: r.Err.Error(), Cut: r.Cut}
	if utf8.Valid(r.Raw) {
		b.Raw = string(r.Raw)
	} else {
		b.Base64 = base64.StdEncoding.EncodeToString(r.Raw)
	}
	return b
}

// bytes are the record's raw bytes.
func (b *badRecord) bytes() ([]byte, error) {
	if b.Base64 == "" {
		return []byte(b.Raw), nil
	}
	return base64.StdEncoding.DecodeString(b.Base64)
}

// A quarantine receives the bad records of one delivered file and writes them in the order of
// the file. Chunks may be parsed in any order. The records wait in a scratch file until the
// digest of the delivered file is known. The first bad record creates the scratch file. The
// scratch file has the name of an unfinished file, so the next load removes it after a kill.
type quarantine struct {
	ctx     context.Context
	fs      dfs.FS
	name    string
	scratch string
	keeps   func(sha string) keeps // nil keeps no line of an earlier file

	mu      sync.Mutex
	next    int // chunk
	waiting map[int][]badRecord
	file    dfs.Pending
	count   int64
	offsets []int64 // of the records, up to manifest.MaxBadOffsets
}

func (b *batch) newQuarantine(ctx context.Context, in *input) *quarantine {
	name := b.badName(in)
	return &quarantine{
		ctx: ctx, fs: b.cfg.FS, name: name, scratch: dfs.Join(dfs.Dir(name), dfs.PendingName(dfs.Base(name))), waiting: map[int][]badRecord{},
		keeps: b.keepsOf(in),
	}
}

// keepsOf returns a function that selects the lines to keep of an earlier quarantine file of the
// input. It returns nil for a piece: a piece writes its quarantine file to another place.
func (b *batch) keepsOf(in *input) func(sha string) keeps {
	switch {
	case b.piece != nil:
		return nil
	case in.replay != nil:
		return func(string) keeps { return keepsOfReplay(in) }
	}
	return func(sha string) keeps { return keepsOfLoad(in.Rel, sha, len(in.covered) > 0) }
}

// add takes the bad records of a chunk, none among them.
func (q *quarantine) add(chunk int, bad []badRecord) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[chunk] = bad
	for {
		bad, ok := q.waiting[q.next]
		if !ok {
			return nil
		}
		delete(q.waiting, q.next)
		q.next++
		for i := range bad {
			if err := q.write(&bad[i]); err != nil {
				return fmt.Errorf("quarantine %s: %w", q.name, err)
			}
		}
	}
}

func (q *quarantine) write(b *badRecord) error {
	if q.file == nil {
		f, err := q.fs.Scratch(q.ctx, q.scratch)
		if err != nil {
			return err
		}
		q.file = f
	}
	line, err := json.Marshal(b)
	if err != nil {
		return err
	}
	q.count++
	if len(q.offsets) < manifest.MaxBadOffsets {
		q.offsets = append(q.offsets, b.Offset)
	}
	_, err = q.file.Write(append(line, '\n'))
	return err
}

// badAt returns the offsets of the bad records; nil if there are too many.
func (q *quarantine) badAt() manifest.Offsets {
	if q == nil || q.count > int64(len(q.offsets)) {
		return nil
	}
	return manifest.OffsetsOf(q.offsets)
}

// commit makes the bad records visible, if there are any. sha is the digest of their file,
// empty if it is not known yet.
func (q *quarantine) commit(sha string) error {
	if q == nil || q.file == nil {
		return nil
	}
	if err := q.publish(sha); err != nil {
		return fmt.Errorf("quarantine %s: %w", q.name, err)
	}
	return nil
}

// publish copies the lines from the scratch file, and adds the digest to each. Lines of an
// earlier file stay as q.keeps says.
func (q *quarantine) publish(sha string) error {
	if err := q.file.Commit(); err != nil {
		return err
	}
	from, err := q.fs.Open(q.ctx, q.scratch)
	if err != nil {
		return err
	}
	defer from.Close()
	var stay keeps
	if q.keeps != nil {
		stay = q.keeps(sha)
	}
	to, err := replaceBad(q.ctx, q.fs, q.name, stay)
	if err != nil {
		return err
	}
	defer to.end()
	for r := bufio.NewReader(from); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if sha != "" {
			line = fmt.Appendf(line[:len(line)-len("}\n")], ",\"sha256\":%q}\n", sha)
		}
		if err := to.add(line); err != nil {
			return err
		}
	}
	return to.commit()
}

// abort removes what waits.
func (q *quarantine) abort() {
	if q != nil && q.file != nil {
		q.file.Abort()
		_ = q.fs.Remove(context.WithoutCancel(q.ctx), q.scratch) // what stays is swept
	}
}

// removeOld removes the quarantine files of earlier deliveries under these paths. The files at
// the paths are clean now, and no load has loaded records of them.
func (l *load) removeOld(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	list, err := l.cfg.FS.List(ctx, dfs.Dir(l.cfg.Store.Quarantine("x")))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	there := map[string]bool{}
	for _, f := range list {
		there[dfs.Base(f.Name)] = true
	}
	for _, path := range paths {
		name := l.cfg.Store.Quarantine(path)
		if !there[dfs.Base(name)] {
			continue
		}
		if err := l.removeOf(ctx, name, path); err != nil {
			return fmt.Errorf("quarantine %s: %w", name, err)
		}
	}
	return nil
}

// removeOf removes the quarantine file called name if its records are of the delivered file
// called path. Two paths had one name in older versions.
func (l *load) removeOf(ctx context.Context, name, path string) error {
	f, err := l.cfg.FS.Open(ctx, name)
	if err != nil {
		return err
	}
	var first badRecord
	err = json.NewDecoder(f).Decode(&first)
	if err := errors.Join(err, f.Close()); err != nil || first.Path != path {
		return nil //nolint:nilerr // a file that is not ours stays
	}
	return l.cfg.FS.Remove(ctx, name)
}
