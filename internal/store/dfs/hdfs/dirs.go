package hdfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/store/dfs"
)

func (s *system) Stat(ctx context.Context, name string) (dfs.Info, error) {
	p, err := s.begin(ctx, "stat", name)
	if err != nil {
		return dfs.Info{}, err
	}
	fi, err := p.stat(ctx, p.path)
	if err != nil {
		return dfs.Info{}, p.named("stat", name, err)
	}
	return info(name, fi), nil
}

func (s *system) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	p, err := s.begin(ctx, "list", dir)
	if err != nil {
		return nil, err
	}
	infos, err := p.list(ctx, dir)
	if err != nil {
		return nil, p.named("list", dir, err)
	}
	return slices.DeleteFunc(infos, func(in dfs.Info) bool { return !in.Dir && dfs.IsPending(dfs.Base(in.Name)) }), nil
}

// list describes the entries of the directory called dir, including pending files.
func (p place) list(ctx context.Context, dir string) ([]dfs.Info, error) {
	var found []os.FileInfo
	err := p.call(ctx, replacing, func(client *hdfs.Client) error {
		d, err := client.Open(p.path)
		if err != nil {
			return err
		}
		defer d.Close()
		if !d.Stat().IsDir() {
			return dfs.ErrNotDir
		}
		found, err = d.Readdir(0)
		return err
	})
	out := make([]dfs.Info, 0, len(found))
	for _, fi := range found {
		out = append(out, info(dfs.Join(dir, fi.Name()), fi))
	}
	slices.SortFunc(out, func(a, b dfs.Info) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

func (s *system) Mkdir(ctx context.Context, dir string) error {
	p, err := s.change(ctx, "mkdir", dir)
	if err != nil {
		return err
	}
	return p.named("mkdir", dir, p.mkdirAll(ctx, p.path))
}

func (c *cluster) mkdirAll(ctx context.Context, path string) error {
	err := c.call(ctx, replacing, func(client *hdfs.Client) error {
		return client.MkdirAll(path, os.FileMode(0o777&^c.umask))
	})
	if errors.Is(err, fs.ErrExist) {
		return dfs.ErrNotDir
	}
	return c.belowFile(ctx, path, err)
}

func (s *system) Publish(ctx context.Context, from, to string) error {
	src, err := s.change(ctx, "publish", from)
	if err != nil {
		return err
	}
	dst, err := s.begin(ctx, "publish", to)
	if err != nil {
		return err
	}
	if src.cluster != dst.cluster {
		return src.named("publish", from+" as "+to, dfs.ErrCross)
	}
	if _, err := src.stat(ctx, src.path); err != nil {
		return src.named("publish", from, err)
	}
	return src.named("publish", to, src.publish(ctx, src.path, dst.path))
}

// publish renames from to to, which must not exist. If one is a directory and the other a
// file, HDFS returns a different exception.
func (c *cluster) publish(ctx context.Context, from, to string) error {
	err := c.rename(ctx, keeping, from, to)
	if exception(err) != "" {
		if _, fail := c.stat(ctx, to); fail == nil {
			return fs.ErrExist
		}
	}
	return err
}

func (s *system) Remove(ctx context.Context, name string) error {
	p, err := s.change(ctx, "remove", name)
	if err != nil {
		return err
	}
	if p.path == "/" {
		return p.named("remove", name, fs.ErrInvalid) // certainly a mistake
	}
	return p.named("remove", name, p.remove(ctx, p.path))
}

// remove removes path and everything below it. It succeeds if path does not exist.
func (c *cluster) remove(ctx context.Context, path string) error {
	return c.call(ctx, replacing, func(client *hdfs.Client) error { return client.RemoveAll(path) })
}

func (s *system) Sweep(ctx context.Context, dir string, but ...string) error {
	p, err := s.change(ctx, "sweep", dir)
	if err != nil {
		return err
	}
	infos, err := p.list(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) || exception(err) == notFound {
		return nil
	}
	if err != nil {
		return p.named("sweep", dir, err)
	}
	for _, in := range infos {
		switch {
		case slices.Contains(but, in.Name):
		case in.Dir:
			err = s.Sweep(ctx, in.Name, but...)
		case dfs.IsPending(dfs.Base(in.Name)):
			err = s.Remove(ctx, in.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func info(name string, fi os.FileInfo) dfs.Info {
	in := dfs.Info{Name: name, Modified: fi.ModTime(), Dir: fi.IsDir()}
	if !in.Dir {
		in.Size = fi.Size()
	}
	return in
}
