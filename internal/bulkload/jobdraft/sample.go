package jobdraft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// Limits of a sample: the amount of text of each file, and the number of files.
const (
	sampleBytes = 256 << 10
	sampleFiles = 256
)

// A sample is the beginning of a file.
type sample struct {
	*placed
	raw   []byte // its bytes, decompressed
	text  []byte // the same in UTF-8
	whole bool   // raw is the whole file
	bad   error  // why it could not be read
	rows  [][]string
}

// look reads the beginnings of a few files of every kind that the paths distinguish.
func look(ctx context.Context, cfg Config, a *arrangement) ([]*sample, error) {
	alike := map[string][]*placed{}
	for i := range a.files {
		if p := &a.files[i]; p.size > 0 {
			alike[p.words()] = append(alike[p.words()], p)
		}
	}
	keys := spread(slices.Sorted(maps.Keys(alike)), sampleFiles)
	each := min(cfg.Files, max(1, sampleFiles/max(1, len(keys))))
	var out []*sample
	var bad error
	for _, key := range keys {
		for _, p := range spread(alike[key], each) {
			s := &sample{placed: p}
			if s.bad = s.read(ctx, cfg.FS); s.bad != nil {
				if bad = s.bad; errors.Is(bad, dfs.ErrUnavailable) || ctx.Err() != nil {
					return nil, fmt.Errorf("draft: %w", bad)
				}
			}
			if len(s.raw) > 0 || s.bad != nil {
				out = append(out, s)
			}
		}
	}
	if bad != nil && !slices.ContainsFunc(out, func(s *sample) bool { return s.bad == nil }) {
		return nil, fmt.Errorf("draft: none of %d files can be read, the last of them: %w", len(out), bad)
	}
	return out, nil
}

// read reads the beginning of the file.
func (s *sample) read(ctx context.Context, files dfs.FS) error {
	f, err := files.Open(ctx, s.name)
	if err != nil {
		return err
	}
	defer f.Close()
	in, free, err := record.Decompress(f, s.name)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer free()
	s.raw, err = io.ReadAll(io.LimitReader(in, sampleBytes+1))
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if s.whole = len(s.raw) <= sampleBytes; !s.whole {
		s.raw = s.raw[:sampleBytes]
	}
	if what := packedWithin(s.raw); what != "" {
		return fmt.Errorf("%s holds what %s has compressed, and its name does not end so", s.name, what)
	}
	return nil
}

// packedWithin returns the compression that bytes begin with, "" if they are text.
func packedWithin(raw []byte) string {
	for what, magic := range map[string]string{"gzip": "\x1f\x8b\x08", "zstd": "\x28\xb5\x2f\xfd", "bzip2": "BZh", "xz": "\xfd7zXZ", "lz4": "\x04\x22\x4d\x18", "Parquet": "PAR1", "zip": "PK\x03\x04"} {
		if bytes.HasPrefix(raw, []byte(magic)) {
			return what
		}
	}
	return ""
}

// decode converts the sample's bytes into text.
func (s *sample) decode(encoding string) error {
	r, err := record.Decode(bytes.NewReader(s.raw), encoding)
	if err != nil {
		return err
	}
	s.text, err = io.ReadAll(r)
	s.raw = nil
	return err
}
