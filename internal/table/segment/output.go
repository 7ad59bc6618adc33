package segment

import (
	"context"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/store/dfs"
)

// A Stager creates staged files of any kind.
type Stager interface {
	Stage(ctx context.Context, name string) (dfs.Pending, error)
}

// An Output is a pending file that counts and hashes the bytes that are written to it.
type Output struct {
	dfs.Pending
	hash  *xxhash.Digest
	bytes int64
}

// NewOutput creates a staged file of any kind.
func NewOutput(ctx context.Context, to Stager, name string) (*Output, error) {
	f, err := to.Stage(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Output{Pending: f, hash: xxhash.New()}, nil
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.Pending.Write(b)
	o.hash.Write(b[:n])
	o.bytes += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Size returns the number of bytes that were written.
func (o *Output) Size() int64 { return o.bytes }

// Sum returns the xxh64 of the bytes that were written, in hex.
func (o *Output) Sum() string { return fmt.Sprintf("%016x", o.hash.Sum64()) }
