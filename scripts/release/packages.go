package main

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the packager
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the packager
)

// writePackages writes the packages for Debian and for Fedora that r.formats has. It returns their names.
func (r *release) writePackages(p platform, tree []installed) ([]string, error) {
	var names []string
	for _, format := range r.formats {
		if format == "tar.gz" {
			continue
		}
		info, err := r.packageInfo(p, tree)
		if err != nil {
			return nil, err
		}
		info.Target = format
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return nil, err
		}
		packager, err := nfpm.Get(format)
		if err != nil {
			return nil, err
		}
		name := packager.ConventionalFileName(info)
		if err := r.writePackage(name, info, packager); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func (r *release) writePackage(name string, info *nfpm.Info, packager nfpm.Packager) (err error) {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return packager.Package(info, f)
}

// packageInfo describes the package of a tree.
func (r *release) packageInfo(p platform, tree []installed) (*nfpm.Info, error) {
	contents, err := r.contents(tree)
	if err != nil {
		return nil, err
	}
	script := func(name string) string { return filepath.Join(r.root, "scripts/release/package", name) }
	return nfpm.WithDefaults(&nfpm.Info{
		Name:          "usertrail",
		Arch:          p.arch,
		Platform:      p.os,
		Version:       packageVersion(r.version),
		VersionSchema: "none",
		Release:       "1",
		Section:       "database",
		Priority:      "optional",
		Maintainer:    "The authors of usertrail <usertrail@localhost>",
		Vendor:        "usertrail",
		License:       "Apache-2.0",
		Description: "loads behaviour logs into HBase and extracts trails of active users\n" +
			"bulkload loads nightly behaviour logs into HBase, or into a directory of HFiles.\n" +
			"extract writes the trails of chosen users as Parquet. Neither needs a JVM.",
		MTime:           r.when,
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts:  nfpm.Scripts{PostInstall: script("postinstall"), PreRemove: script("preremove"), PostRemove: script("postremove")},
			RPM:      nfpm.RPM{BuildHost: "localhost"},
		},
	}), nil
}

// contents returns the files of a tree as nfpm wants them, with man pages compressed.
func (r *release) contents(tree []installed) (files.Contents, error) {
	var out files.Contents
	for _, file := range tree {
		if strings.HasPrefix(file.path, "usr/share/man/") {
			var err error
			if file, err = r.compressed(file); err != nil {
				return nil, err
			}
		}
		c := &files.Content{Source: file.source, Destination: "/" + file.path,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: file.mode, MTime: r.when}}
		if file.config {
			c.Type = files.TypeConfigNoReplace
		}
		out = append(out, c)
	}
	for _, dir := range []string{"/etc/usertrail", "/usr/share/doc/usertrail"} {
		out = append(out, &files.Content{Destination: dir, Type: files.TypeDir,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: r.when}})
	}
	return out, nil
}

// compressed returns a file that is compressed by gzip, without a name or a time in it.
func (r *release) compressed(file installed) (_ installed, err error) {
	from, err := os.Open(file.source)
	if err != nil {
		return file, err
	}
	defer from.Close()
	file.path += ".gz"
	file.source = filepath.Join(r.scratch, filepath.Base(file.path))
	to, err := os.Create(file.source)
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return file, err
	}
	_, err = io.Copy(z, from)
	return file, errors.Join(err, z.Close())
}

var (
	tagged   = regexp.MustCompile(`^v?([0-9][0-9.]*)(?:-(.*))?$`)
	since    = regexp.MustCompile(`^[0-9]+-g[0-9a-f]+(?:-dirty)?$`)
	unusable = regexp.MustCompile(`[^0-9A-Za-z.+~]+`)
)

// packageVersion returns the version of packages for a version that git describe prints. A
// version of a package begins with a digit and has no hyphen, and the order is:
//
//	0~abc1234 (no tag) < 1.2.0~rc.1 (v1.2.0-rc.1) < 1.2.0 (v1.2.0) < 1.2.0+5.gabc1234 (v1.2.0-5-gabc1234)
func packageVersion(version string) string {
	m := tagged.FindStringSubmatch(version)
	switch {
	case m == nil:
		return "0~" + unusable.ReplaceAllString(version, ".")
	case m[2] == "":
		return m[1]
	case since.MatchString(m[2]) || m[2] == "dirty":
		return m[1] + "+" + unusable.ReplaceAllString(m[2], ".")
	}
	return m[1] + "~" + unusable.ReplaceAllString(m[2], ".")
}
