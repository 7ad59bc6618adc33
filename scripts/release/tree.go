package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// An installed file is a file of a package.
type installed struct {
	path   string // in the file system of the machine that installs it, without the first slash
	source string // where its bytes are now
	mode   fs.FileMode
	config bool // people change it, and an upgrade keeps it
}

// tree returns the files that a package for p installs, sorted by path.
func (r *release) tree(p platform, programs, texts string) ([]installed, error) {
	var out []installed
	for _, name := range names {
		out = append(out, installed{path: "usr/bin/" + name, source: filepath.Join(programs, name), mode: 0o755})
	}
	out, err := appendTree(out, texts, "usr", everything)
	if err != nil {
		return nil, err
	}
	doc := "usr/share/doc/usertrail"
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		out = append(out, installed{path: path.Join(doc, name), source: filepath.Join(r.root, name), mode: 0o644})
	}
	// Debian wants the licence under this name, and Fedora takes it there.
	out = append(out, installed{path: path.Join(doc, "copyright"), source: filepath.Join(r.root, "LICENSE"), mode: 0o644})
	if out, err = appendTree(out, filepath.Join(r.root, "docs"), path.Join(doc, "docs"), everything); err != nil {
		return nil, err
	}
	if out, err = appendTree(out, filepath.Join(r.root, "jobs"), path.Join(doc, "jobs"), usedAsIs); err != nil {
		return nil, err
	}
	if p.os == "linux" {
		if out, err = r.appendService(out); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b installed) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// appendService appends what runs the nights below systemd: the units of jobs/cron, their
// environment and their user.
func (r *release) appendService(out []installed) ([]installed, error) {
	cron := filepath.Join(r.root, "jobs/cron")
	for _, kind := range []string{"service", "timer"} {
		units, err := filepath.Glob(filepath.Join(cron, "usertrail-*."+kind))
		if err != nil {
			return nil, err
		}
		for _, unit := range units {
			out = append(out, installed{path: "usr/lib/systemd/system/" + filepath.Base(unit), source: unit, mode: 0o644})
		}
	}
	return append(out,
		installed{path: "usr/lib/sysusers.d/usertrail.conf", source: filepath.Join(cron, "usertrail.sysusers"), mode: 0o644},
		installed{path: "etc/usertrail/environment", source: filepath.Join(cron, "usertrail.environment"), mode: 0o644, config: true},
	), nil
}

func everything(string) bool { return true }

// usedAsIs reports whether an operator can use a file of jobs/ as it is: it is not a test,
// and it is not source code in Go.
func usedAsIs(name string) bool {
	return !strings.HasSuffix(name, ".go") && !strings.Contains(name, "/tests/")
}

// appendTree appends the files below dir that keep accepts, below another directory. Hidden
// files and caches of Python are left out.
func appendTree(out []installed, dir, below string, keep func(name string) bool) ([]installed, error) {
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(e.Name(), ".") || e.Name() == "__pycache__"; hidden && name != dir {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || !keep(filepath.ToSlash(name)) {
			return nil
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		out = append(out, installed{path: path.Join(below, filepath.ToSlash(relative)), source: name, mode: mode})
		return nil
	})
	return out, err
}
