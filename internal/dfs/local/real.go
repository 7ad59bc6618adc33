package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links that lead to nothing are followed, one to the next.
const maxLinks = 40

// Real implements dfs.Resolver. A link that leads to nothing stands for the place that it
// names.
func (local) Real(ctx context.Context, name string) (string, error) {
	if err := ready(ctx, "resolve", name); err != nil {
		return "", err
	}
	real, err := realPath(name)
	return real, named("resolve", name, err)
}

// realPath resolves what is there of name; the rest is below it. The name is not cleaned
// first: a/.. is not the working directory if a is a link.
func realPath(name string) (string, error) {
	if !filepath.IsAbs(name) {
		dir, err := os.Getwd()
		if err != nil {
			return "", err
		}
		name = dir + "/" + name
	}
	rest := ""
	for links := 0; ; {
		real, err := filepath.EvalSymlinks(name)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		name = strings.TrimRight(name, "/")
		dir, base := filepath.Split(name)
		target, err := os.Readlink(name)
		switch {
		case err != nil:
			name, rest = dir, filepath.Join(base, rest)
		case links == maxLinks:
			return "", syscall.ELOOP
		case filepath.IsAbs(target):
			name = target
		default:
			name = dir + target
		}
		if err == nil {
			links++
		}
	}
}
