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

// maxLinks is the number of links without a target that are followed, one to the next.
const maxLinks = 40

// Real implements dfs.Resolver. A link without a target is resolved to the place that it
// names.
func (local) Real(ctx context.Context, name string) (string, error) {
	if err := ready(ctx, "resolve", name); err != nil {
		return "", err
	}
	real, err := realPath(name)
	return real, named("resolve", name, err)
}

// realPath resolves the part of name that exists, and appends the rest. It does not clean the
// name first: a/.. is not the working directory if a is a link.
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
			if _, fail := os.Stat(name); errors.Is(fail, syscall.ELOOP) {
				err = fail // EvalSymlinks has an error of its own
			}
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
