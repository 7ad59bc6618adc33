package bulkload

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"unicode/utf8"

	"usertrail/internal/dfs"
	"usertrail/internal/record"
)

// A badRecord is a line of a quarantine file. Whoever has corrected its raw text
// gives the file to bulkload replay.
type badRecord struct {
	Path   string        `json:"path"` // of the delivered file, below the logs' root
	Line   int64         `json:"line"`
	Offset int64         `json:"offset"`
	Reason record.Reason `json:"reason"`
	Detail string        `json:"detail"`
	Raw    string        `json:"raw"`
	Base64 string        `json:"raw_base64,omitempty"` // in place of Raw where that is not UTF-8
}

// replayEnding is added to a delivered file's name for those of its records that
// were bad again when they were replayed.
const replayEnding = ".replay"

func newBadRecord(path string, r *record.Reject) badRecord {
	b := badRecord{Path: path, Line: r.Line, Offset: r.Offset, Reason: r.Reason, Detail: r.Err.Error()}
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

// A quarantine takes one delivered file's bad records in the order in which they
// stand there, though its chunks are parsed in any order. The file is made when
// the first comes.
type quarantine struct {
	ctx  context.Context
	fs   dfs.FS
	name string

	mu      sync.Mutex
	next    int // chunk
	waiting map[int][]badRecord
	file    dfs.Pending
	count   int64
}

func (b *batch) newQuarantine(ctx context.Context, in *input) *quarantine {
	return &quarantine{ctx: ctx, fs: b.cfg.FS, name: b.badName(in), waiting: map[int][]badRecord{}}
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
		f, err := q.fs.Create(q.ctx, q.name)
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
	_, err = q.file.Write(append(line, '\n'))
	return err
}

// commit makes the bad records visible, if there are any.
func (q *quarantine) commit() error {
	if q == nil || q.file == nil {
		return nil
	}
	if err := q.file.Commit(); err != nil {
		return fmt.Errorf("quarantine %s: %w", q.name, err)
	}
	return nil
}

func (q *quarantine) abort() {
	if q != nil && q.file != nil {
		q.file.Abort()
	}
}
