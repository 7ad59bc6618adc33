package dfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// HasMeta says whether a pattern has characters that Glob reads as more than
// themselves.
func HasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// ErrNotDir is returned where a directory is needed and a file stands.
var ErrNotDir = errors.New("not a directory")

// Glob returns the files that pattern names, in order of name. Each part
// between two slashes is matched as path.Match does. As in Hadoop, names that
// begin with "." or "_" are matched only by a part that begins so too: they are
// marks that programs leave, such as _SUCCESS, and not data.
//
// What is not there matches nothing and is no error, folders included: whether
// one has to be there, the caller knows.
func Glob(ctx context.Context, fsys FS, pattern string) ([]Info, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("dfs: pattern %s: %w", pattern, err)
	}
	root, rest := cutRoot(pattern)
	found := []string{root}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == "" {
			continue
		}
		last := strings.Trim(rest, "/") == ""
		if !HasMeta(part) && !last {
			for i := range found {
				found[i] = Join(found[i], part)
			}
			continue
		}
		infos, err := matches(ctx, fsys, found, part)
		if err != nil {
			return nil, err
		}
		if last {
			return keep(infos, false), nil
		}
		found = found[:0]
		for _, in := range keep(infos, true) {
			found = append(found, in.Name)
		}
	}
	return nil, nil
}

// matches returns what matches part in any of dirs.
func matches(ctx context.Context, fsys FS, dirs []string, part string) ([]Info, error) {
	var out []Info
	for _, dir := range dirs {
		infos, err := matchesIn(ctx, fsys, dir, part)
		if err != nil && !absent(err) {
			return nil, err
		}
		out = append(out, infos...)
	}
	slices.SortFunc(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func matchesIn(ctx context.Context, fsys FS, dir, part string) ([]Info, error) {
	if !HasMeta(part) {
		in, err := fsys.Stat(ctx, Join(dir, part))
		if err != nil {
			return nil, err
		}
		return []Info{in}, nil
	}
	list := dir
	if list == "" {
		list = "."
	}
	infos, err := fsys.List(ctx, list)
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, in := range infos {
		base := Base(in.Name)
		if strings.ContainsAny(base[:1], "._") && base[0] != part[0] {
			continue
		}
		if ok, _ := path.Match(part, base); ok {
			in.Name = Join(dir, base)
			out = append(out, in)
		}
	}
	return out, nil
}

// absent says whether err means that something, or the folder it would be in,
// is not there.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotDir)
}

func keep(infos []Info, dirs bool) []Info {
	return slices.DeleteFunc(infos, func(in Info) bool { return in.Dir != dirs })
}
