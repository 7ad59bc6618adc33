package jobdraft

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"

	"usertrail/internal/format/record"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// Limits of a sample: the number of files, the bytes of all files together, and the bytes of
// one file that are read however many files there are.
const (
	sampleFiles = 256
	sampleBytes = 128 << 20
	leastBytes  = 256 << 10
)

// A sample is a part of a file: its beginning, middle and end, or all of it.
type sample struct {
	*placed
	raw      []byte // pieces of whole lines, decompressed
	ended    bool   // raw ends with a whole line
	text     []byte // raw in UTF-8
	encoding string // of raw; empty is UTF-8
	ascii    bool   // every encoding reads raw alike
	bad      error  // why it could not be read
	rows     [][]string
}

// ErrNoLog is wrapped by the error for a file that is no log.
var ErrNoLog = exit.New(exit.NoInput, "no log")

// look reads parts of a few files of every kind that the paths distinguish.
func look(ctx context.Context, cfg Config, a *arrangement) ([]*sample, error) {
	alike := map[string][]*placed{}
	for i := range a.files {
		if p := &a.files[i]; p.size > 0 {
			alike[p.words()] = append(alike[p.words()], p)
		}
	}
	keys := spread(slices.Sorted(maps.Keys(alike)), sampleFiles)
	each := min(cfg.Files, max(1, sampleFiles/max(1, len(keys))))
	var some []*placed
	for _, key := range keys {
		some = append(some, spread(alike[key], each)...)
	}
	most := max(leastBytes, sampleBytes/max(1, len(some)))
	var out []*sample
	var bad error
	for _, p := range some {
		s := &sample{placed: p}
		if s.bad = s.read(ctx, cfg, most); s.bad != nil {
			if bad = s.bad; errors.Is(bad, dfs.ErrUnavailable) || ctx.Err() != nil {
				return nil, fmt.Errorf("draft: %w", bad)
			}
		}
		if len(s.raw) > 0 || s.bad != nil {
			out = append(out, s)
		}
	}
	if bad != nil && !slices.ContainsFunc(out, func(s *sample) bool { return s.bad == nil }) {
		return nil, fmt.Errorf("draft: none of %d files can be read, the last of them: %w", len(out), bad)
	}
	return out, nil
}

// read reads cfg.Records lines of the file, at most most bytes. A file with more lines is read
// at its beginning, middle and end; a compressed file only at its beginning.
func (s *sample) read(ctx context.Context, cfg Config, most int) error {
	f, err := cfg.FS.Open(ctx, s.name)
	if err != nil {
		return err
	}
	defer f.Close()
	in, free, err := record.Decompress(f, s.name, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer free()
	whole := false
	if s.raw, whole, err = firstLines(in, cfg.Records+1, most); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if what := packedWithin(s.raw); what != "" {
		return fmt.Errorf("%s holds what %s has compressed, and its name does not end so", s.name, what)
	}
	if isPage(s.raw) {
		return fmt.Errorf("%s is an HTML page, and %w: have the log delivered again", s.name, ErrNoLog)
	}
	if expr := wrapped(s.raw); expr != "" {
		return fmt.Errorf("%s is one JSON object around an array of objects, and %w of the format jsonl, which has one object on each line: convert it, for example with jq -c '%s'", s.name, ErrNoLog, expr)
	}
	if isJSONOverLines(s.raw) {
		return fmt.Errorf("%s is an array of JSON objects, or has objects of several lines, and %w of the format jsonl, which has one object on each line: convert it, for example with jq -c '.[]' for an array and jq -c . otherwise", s.name, ErrNoLog)
	}
	if err := record.CheckReturns(s.raw); err != nil {
		return fmt.Errorf("%s is %w of lines: %w", s.name, ErrNoLog, err)
	}
	s.ended = whole
	if whole {
		return nil
	}
	if record.IsCompressed(s.name) || wide(s.raw) != "" {
		s.cutLast()
		return nil
	}
	if err := s.readParts(f, cfg.Records/3+2); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// cutLast removes a line without an end.
func (s *sample) cutLast() {
	if n := bytes.LastIndexByte(s.raw, '\n'); n >= 0 {
		s.raw, s.ended = s.raw[:n+1], true
	}
}

// readParts replaces the beginning of a file that has been read by fewer lines of it, and by
// as many bytes of its middle and of its end.
func (s *sample) readParts(f dfs.File, lines int) error {
	first := s.raw[:afterLines(s.raw, lines)]
	size, n := f.Size(), int64(len(first))
	if n == 0 || size < 3*n {
		s.cutLast()
		return nil
	}
	out := bytes.Clone(first)
	for _, at := range []int64{size / 2, size - n} {
		part := make([]byte, n)
		if _, err := f.ReadAt(part, at); err != nil && err != io.EOF {
			return err
		}
		part = part[bytes.IndexByte(part, '\n')+1:]
		if at+n < size {
			part = part[:bytes.LastIndexByte(part, '\n')+1]
		}
		out = append(out, part...)
	}
	s.raw, s.ended = out, true
	return nil
}

// afterLines returns the length of the first n lines of text, 0 if it has fewer.
func afterLines(text []byte, n int) int {
	at := 0
	for range n {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return 0
		}
		at += end + 1
	}
	return at
}

// firstLines reads n lines, or most bytes if that is less, or everything. whole is set if
// nothing is left.
func firstLines(r io.Reader, n, most int) (text []byte, whole bool, err error) {
	lines := 0
	buf := make([]byte, 64<<10)
	for len(text) < most && lines < n {
		k, err := r.Read(buf)
		text = append(text, buf[:k]...)
		lines += bytes.Count(buf[:k], []byte("\n"))
		if err == io.EOF {
			return text, true, nil
		}
		if err != nil {
			return text, false, err
		}
	}
	k, err := io.ReadFull(r, buf[:1])
	if k > 0 || err == nil {
		return text, false, nil
	}
	if err != io.EOF {
		return text, false, err
	}
	return text, true, nil
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

// isPage reports whether a text is an HTML page, such as the error page of a server.
func isPage(raw []byte) bool {
	begin := bytes.TrimSpace(bytes.TrimPrefix(raw[:min(len(raw), 1<<10)], []byte("\uFEFF")))
	for _, tag := range []string{"<!doctype html", "<html"} {
		if len(begin) >= len(tag) && bytes.EqualFold(begin[:len(tag)], []byte(tag)) {
			return true
		}
	}
	return false
}

// isJSONOverLines reports whether a text is an array of JSON objects, or objects that take several lines each.
func isJSONOverLines(raw []byte) bool {
	begin := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\uFEFF")))
	if array, ok := bytes.CutPrefix(begin, []byte("[")); ok {
		return bytes.HasPrefix(bytes.TrimSpace(array), []byte("{"))
	}
	first, rest, _ := bytes.Cut(begin, []byte("\n"))
	return string(bytes.TrimSpace(first)) == "{" && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"`))
}

// simpleMember matches the name of a member that an expression of jq needs no quotes for.
var simpleMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// wrapped returns an expression of jq for the records of a text whose first object has one member, which is an array of
// objects, as in {"Records":[{…}]}. It returns "" for other texts. The end of the array may be cut off.
func wrapped(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\uFEFF"))))
	next := func() json.Token {
		t, _ := d.Token()
		return t
	}
	if next() != json.Delim('{') {
		return ""
	}
	name, ok := next().(string)
	if !ok || next() != json.Delim('[') || next() != json.Delim('{') {
		return ""
	}
	for depth := 2; depth > 0; {
		t, err := d.Token()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break // cut off
		}
		if err != nil {
			return ""
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	if d.More() {
		return ""
	}
	if next(); d.More() {
		return "" // another object follows
	}
	if simpleMember.MatchString(name) {
		return "." + name + "[]"
	}
	return ".[][]"
}

// decode converts the sample's bytes into text.
func (s *sample) decode() error {
	r, err := record.Decode(bytes.NewReader(s.raw), s.encoding)
	if err != nil {
		return err
	}
	s.text, err = io.ReadAll(r)
	s.raw = nil
	return err
}

// cut cuts the text into rows.
func (s *sample) cut(f *format) {
	s.rows = nil
	if f.syntax != record.JSONL {
		s.rows, _ = f.rows(s, math.MaxInt)
	}
}
