package quarantine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// A File receives the bad records of one delivered file and writes them in the order of the
// delivered file. Chunks may be parsed in any order. The records wait in a scratch file until the
// digest of the delivered file is known. The first bad record creates the scratch file. The
// scratch file has the name of an unfinished file, so the next load removes it after a kill.
type File struct {
	ctx     context.Context
	fs      dfs.FS
	log     *slog.Logger
	name    string
	scratch string // its name, from the first record on
	keeps   func(sha string) Keeps

	mu      sync.Mutex
	next    int  // chunk
	chunks  int  // of the delivered file; -1 until it is known
	ended   bool // the last chunk was added
	waiting map[int][]Record
	file    dfs.Pending
	count   int64
	reasons Reasons
	offsets []int64          // of the records, up to manifest.MaxBadOffsets; nil after the last chunk
	badAt   manifest.Offsets // the same after the last chunk
}

// NewFile returns the quarantine file called name. keeps returns which lines of an earlier file
// stay. Its argument is the digest of the delivered file. If keeps is nil, no line stays. log gets the name of the file of
// corrected lines that do not stay. ctx is used until Commit or Abort. The caller must call Abort at the end.
func NewFile(ctx context.Context, fs dfs.FS, log *slog.Logger, name string, keeps func(sha string) Keeps) *File {
	return &File{ctx: ctx, fs: fs, log: log, name: name, chunks: -1, waiting: map[int][]Record{}, keeps: keeps}
}

// Add adds the bad records of a chunk. The caller adds every chunk, from 0 on, also if it has no
// bad record. Many goroutines may call Add at once.
func (f *File) Add(chunk int, bad []Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting[chunk] = bad
	for {
		bad, ok := f.waiting[f.next]
		if !ok {
			return f.close()
		}
		delete(f.waiting, f.next)
		f.next++
		for i := range bad {
			if err := f.write(&bad[i]); err != nil {
				return fmt.Errorf("quarantine %s: %w", f.name, err)
			}
		}
	}
}

// End sets the number of chunks of the delivered file. The caller may add chunks after End.
func (f *File) End(chunks int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chunks = chunks
	return f.close()
}

// close closes the scratch file after the last chunk. A batch may have thousands of files with bad records.
func (f *File) close() error {
	if f.ended || f.next != f.chunks {
		return nil
	}
	f.ended, f.badAt, f.offsets, f.waiting = true, f.places(), nil, nil
	if err := f.closeScratch(); err != nil {
		return fmt.Errorf("quarantine %s: %w", f.name, err)
	}
	return nil
}

// closeScratch closes the scratch file, and releases its buffer.
func (f *File) closeScratch() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Commit()
	f.file = nil
	return err
}

func (f *File) write(b *Record) error {
	if f.count == 0 {
		f.scratch = dfs.Join(dfs.Dir(f.name), dfs.PendingName(dfs.Base(f.name)))
		file, err := f.fs.Scratch(f.ctx, f.scratch)
		if err != nil {
			return inPlace(f.ctx, f.fs, f.name, err)
		}
		f.file = file
	}
	line, err := json.Marshal(b)
	if err != nil {
		return err
	}
	f.count++
	f.reasons.Add(b.Reason, b.Line, b.Detail)
	if len(f.offsets) < manifest.MaxBadOffsets {
		f.offsets = append(f.offsets, b.Offset)
	}
	_, err = f.file.Write(append(line, '\n'))
	return err
}

// Name returns the name of the file.
func (f *File) Name() string { return f.name }

// Count returns the number of bad records.
func (f *File) Count() int64 { return f.count }

// Reasons returns the number of bad records by reason.
func (f *File) Reasons() *Reasons { return &f.reasons }

// BadAt returns the offsets of the bad records. It returns nil if there are more than
// manifest.MaxBadOffsets.
func (f *File) BadAt() manifest.Offsets {
	if f.ended {
		return f.badAt
	}
	return f.places()
}

func (f *File) places() manifest.Offsets {
	if f.count > int64(len(f.offsets)) {
		return nil
	}
	return manifest.OffsetsOf(f.offsets)
}

// Commit makes the file visible, if there are bad records. sha is the digest of the delivered
// file. If it is "", the lines get neither a digest nor marks.
func (f *File) Commit(sha string) error {
	if f.count == 0 {
		return nil
	}
	if err := f.publish(sha); err != nil {
		return fmt.Errorf("quarantine %s: %w", f.name, err)
	}
	return nil
}

// publish copies the lines from the scratch file, and adds the digest and the marks to each.
func (f *File) publish(sha string) error {
	if err := f.closeScratch(); err != nil {
		return err
	}
	var stay Keeps
	if f.keeps != nil {
		stay = f.keeps(sha)
	}
	return rewrite(f.ctx, f.fs, f.log, []string{f.scratch}, f.name, stay, func(_ int, line []byte) ([]byte, error) {
		if sha == "" {
			return line, nil
		}
		return sealed(line, 0, sha)
	})
}

// Abort removes the scratch file. A committed file stays.
func (f *File) Abort() {
	if f.file != nil {
		f.file.Abort()
	}
	if f.count > 0 {
		_ = f.fs.Remove(context.WithoutCancel(f.ctx), f.scratch) // a later load removes what stays
	}
}
