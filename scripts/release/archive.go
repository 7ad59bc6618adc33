package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeArchive writes the files of a tree into an archive, below one folder. /usr is that
// folder, so that tar --strip-components=1 installs the files below /usr/local.
func (r *release) writeArchive(name, folder string, tree []installed) (err error) {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	for _, file := range tree {
		if err := r.addFile(w, folder+"/"+strings.TrimPrefix(file.path, "usr/"), file); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), z.Close())
}

// addFile adds a file of a tree to an archive. Its owner is root, and its time is the
// release's.
func (r *release) addFile(w *tar.Writer, name string, file installed) error {
	f, err := os.Open(file.source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: name, Mode: int64(file.mode), Size: info.Size(), ModTime: r.when, Uname: "root", Gname: "root", Format: tar.FormatPAX}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
