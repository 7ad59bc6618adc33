package dfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"usertrail/internal/run/exit"
)

// HasMeta reports whether a pattern contains any of the special characters that
// Glob interprets.
func HasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// ErrNotDir is returned when a directory is needed and a file has its name.
var ErrNotDir = exit.New(exit.Usage, "not a directory")

// Glob returns the files that match pattern, in order of name. It matches each part
// between two slashes as path.Match does. As in Hadoop, a name that begins with "."
// or "_" matches only a part that begins with the same character: programs leave such
// files as marks, for example _SUCCESS, and they hold no data.
//
// A file or folder that does not exist matches nothing and is not an error. The caller
// knows whether it has to exist.
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

// matches returns the entries of any of dirs that match part.
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

// absent reports whether err means that a file, or the folder that would hold it,
// does not exist.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotDir)
}

func keep(infos []Info, dirs bool) []Info {
	return slices.DeleteFunc(infos, func(in Info) bool { return in.Dir != dirs })
}
