// Release builds the files of a release of usertrail: archives, packages, bills of materials
// and checksums.
//
//	go run . --root ../.. --out DIR --version v1.2.0 [--platforms linux/amd64,…] [--formats tar.gz,deb,rpm]
//
// For each platform it writes:
//
//	usertrail-VERSION-OS-ARCH.tar.gz     programs, man pages, completions, pages, jobs
//	usertrail-VERSION-OS-ARCH.cdx.json   the modules of the programs, as CycloneDX 1.6
//
// For Linux it also writes:
//
//	usertrail_VERSION_ARCH.deb
//	usertrail-VERSION-1.ARCH.rpm
//
// SHA256SUMS names all of them, and sha256sum --check reads it.
//
// The same commit gives the same bytes, in every directory: all times are the commit's, or
// $SOURCE_DATE_EPOCH. Nothing is downloaded, if the module cache has the modules.
//
// Release is a module of its own, so that the modules which write packages are not among
// the modules of the programs.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	r := release{}
	var names, formats string
	flag.StringVar(&r.root, "root", ".", "the `directory` of the checkout")
	flag.StringVar(&r.out, "out", "", "the `directory` to write to; files of the same names are replaced")
	flag.StringVar(&r.version, "version", "", "the version, as `git describe` prints it")
	flag.BoolVar(&r.dirty, "dirty", false, "release a tree with changes that no commit has")
	flag.StringVar(&names, "platforms", "linux/amd64,linux/arm64,darwin/arm64", "comma-separated `list` of OS/ARCH")
	flag.StringVar(&formats, "formats", strings.Join(allFormats, ","), "comma-separated `list` of the files to write for each platform")
	flag.Parse()
	if err := r.run(context.Background(), names, formats); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release is the files of one version.
type release struct {
	root    string // the checkout
	out     string
	version string // as git describe prints it
	dirty   bool   // the tree may have changes that no commit has
	when    time.Time
	formats []string // some of allFormats
	scratch string   // holds programs and trees until they are packed
	built   map[platform]string
}

// allFormats are the formats of the files that have the programs. Only Linux has the last two.
var allFormats = []string{"tar.gz", "deb", "rpm"}

// A platform is an operating system and an architecture, in Go's words.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "-" + p.arch }

// parsePlatforms reads a list such as linux/amd64,darwin/arm64.
func parsePlatforms(names string) ([]platform, error) {
	var out []platform
	for name := range strings.SplitSeq(names, ",") {
		os, arch, ok := strings.Cut(name, "/")
		if !ok || os == "" || arch == "" {
			return nil, fmt.Errorf("--platforms: %q is not OS/ARCH, such as linux/amd64", name)
		}
		out = append(out, platform{os, arch})
	}
	return out, nil
}

// parseFormats reads a list such as tar.gz,deb.
func parseFormats(names string) ([]string, error) {
	formats := strings.Split(names, ",")
	for _, name := range formats {
		if !slices.Contains(allFormats, name) {
			return nil, fmt.Errorf("--formats: %q is not one of %s", name, strings.Join(allFormats, ", "))
		}
	}
	return formats, nil
}

// run builds the release for a list of platforms, in a list of formats.
func (r *release) run(ctx context.Context, names, formats string) (err error) {
	platforms, err := parsePlatforms(names)
	if err != nil {
		return err
	}
	if r.formats, err = parseFormats(formats); err != nil {
		return err
	}
	if r.out == "" || r.version == "" {
		return errors.New("--out and --version are required")
	}
	if r.when, err = r.commitTime(ctx); err != nil {
		return err
	}
	if err := r.checkClean(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	if r.scratch, err = os.MkdirTemp("", "usertrail-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.scratch)) }()

	texts, err := r.texts(ctx)
	if err != nil {
		return err
	}
	var written []string
	for _, p := range platforms {
		files, err := r.platform(ctx, p, texts)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		written = append(written, files...)
	}
	slices.Sort(written)
	return r.writeSums(written)
}

// platform builds, packs and describes the programs for p. It returns the names of the
// files that it wrote into r.out.
func (r *release) platform(ctx context.Context, p platform, texts string) ([]string, error) {
	programs, err := r.programs(ctx, p)
	if err != nil {
		return nil, err
	}
	tree, err := r.tree(p, programs, texts)
	if err != nil {
		return nil, err
	}
	base := "usertrail-" + r.version + "-" + p.String()
	names := []string{base + ".cdx.json"}
	if err := r.writeBill(names[0], programs); err != nil {
		return nil, err
	}
	if name := base + ".tar.gz"; slices.Contains(r.formats, "tar.gz") {
		if err := r.writeArchive(name, base, tree); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if p.os == "linux" {
		packages, err := r.writePackages(p, tree)
		if err != nil {
			return nil, err
		}
		names = append(names, packages...)
	}
	return names, nil
}

// commitTime returns the time that all files of the release have: $SOURCE_DATE_EPOCH in
// seconds since 1970, or the time of the commit that is checked out.
func (r *release) commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := command(ctx, r.root, nil, "git", "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the release: %w: set SOURCE_DATE_EPOCH where there is no git", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// checkClean refuses a tree with changes that no commit has, unless r.dirty is set or the version ends in
// -dirty. Files that git ignores are no changes. Without git there is nothing to check.
func (r *release) checkClean(ctx context.Context) error {
	if r.dirty {
		return nil
	}
	out, err := command(ctx, r.root, nil, "git", "status", "--porcelain")
	if err != nil || len(out) == 0 || strings.HasSuffix(r.version, "-dirty") {
		return nil //nolint:nilerr // a tree without git
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return fmt.Errorf("%s has changes that no commit has, such as %q, and --version %s does not end in -dirty: commit or remove them", r.root, first, r.version)
}

// command runs a program in dir with more environment variables. It returns the standard
// output. An error has the standard error.
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, cmp.Or(string(ended.Stderr), string(out)))
	}
	return out, err
}

// native is the platform that this program runs on.
var native = platform{runtime.GOOS, runtime.GOARCH}
