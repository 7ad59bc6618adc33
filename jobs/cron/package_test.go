package cron_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

const repository = "../.."

// builtRelease builds the release of a checkout for some platforms, and returns its directory.
// More are further flags of the build.
// The build has no network once the modules are in the module cache.
func builtRelease(t *testing.T, checkout, platforms string, more ...string) string {
	t.Helper()
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if text, err := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(root, "scripts/release"), "mod", "download").CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, text)
	}
	args := []string{"run", ".", "--root", root, "--out", out, "--version", "v0.1.0-test", "--dirty", "--platforms", platforms}
	c := exec.CommandContext(t.Context(), "go", append(args, more...)...)
	c.Dir = filepath.Join(root, "scripts/release")
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1400000000", "GOPROXY=off", "GOFLAGS=")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", c, err, text)
	}
	return out
}

// A scratchRoot is a root directory for dpkg, with nothing in it.
type scratchRoot struct{ dir, log string }

func newScratchRoot(t *testing.T) *scratchRoot {
	t.Helper()
	r := &scratchRoot{dir: t.TempDir(), log: filepath.Join(t.TempDir(), "dpkg.log")}
	for _, dir := range []string{"etc", "var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"etc/passwd", "etc/group", "var/lib/dpkg/status", "var/lib/dpkg/available"} {
		testkit.WriteFile(t, filepath.Join(r.dir, name), "")
	}
	return r
}

// dpkg runs dpkg on the root. The scripts of a package run outside of it, with DPKG_ROOT. A
// user who is not root runs it in fakeroot, because dpkg gives files to root.
func (r *scratchRoot) dpkg(t *testing.T, args ...string) string {
	t.Helper()
	words := append([]string{"dpkg", "--root=" + r.dir, "--force-script-chrootless", "--force-not-root", "--force-bad-path", "--log=" + r.log}, args...)
	if os.Getuid() != 0 {
		words = append([]string{"fakeroot"}, words...)
	}
	out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// files returns the files and directories of the root, except dpkg's and the databases of
// accounts.
func (r *scratchRoot) files(t *testing.T) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(r.dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == "var/lib/dpkg" {
			return fs.SkipDir
		}
		if filepath.Dir(name) != "etc" || e.IsDir() {
			out = append(out, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *scratchRoot) accounts(t *testing.T) string {
	t.Helper()
	return readFile(t, filepath.Join(r.dir, "etc/passwd")) + readFile(t, filepath.Join(r.dir, "etc/group"))
}

// TestThePackageRunsANightAndLeavesNothing installs the package for Debian in a root of its
// own. It runs the installed unit's command with the installed program, and removes the
// package: first with a table in the account's folder, which stays, then without one.
func TestThePackageRunsANightAndLeavesNothing(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not here")
	}
	release := builtRelease(t, repository, "linux/"+runtime.GOARCH, "--formats", testkit.Pick("deb", "tar.gz,deb,rpm"))
	found, err := filepath.Glob(filepath.Join(release, "*.deb"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the release has the packages %q: %v", found, err)
	}
	root := newScratchRoot(t)
	before := root.files(t)
	root.dpkg(t, "--install", found[0])
	if !strings.Contains(root.accounts(t), "usertrail:x:") {
		t.Errorf("the account is missing:\n%s", root.accounts(t))
	}
	h := newFixture(t)
	h.packaged(t, root)
	command, env := h.serviceOf(t, readFile(t, filepath.Join(root.dir, "usr/lib/systemd/system/usertrail-load.service")))
	h.checkNight(t, command, "", env)

	table := filepath.Join(root.dir, "var/lib/usertrail/trails")
	if err := os.Mkdir(table, 0o755); err != nil {
		t.Fatal(err)
	}
	if said := root.dpkg(t, "--purge", "usertrail"); !strings.Contains(said, "is not empty") || !strings.Contains(root.accounts(t), "usertrail:x:") {
		t.Errorf("a purge took the account of a table away, or said nothing:\n%s", said)
	}
	if _, err := os.Stat(table); err != nil {
		t.Errorf("a purge removed a table: %v", err)
	}
	if err := os.Remove(table); err != nil {
		t.Fatal(err)
	}
	root.dpkg(t, "--install", found[0])
	root.dpkg(t, "--purge", "usertrail")
	if after := root.files(t); !slices.Equal(after, before) || strings.Contains(root.accounts(t), "usertrail") {
		t.Errorf("the removed package left %q, want %q, and the accounts\n%s", after, before, root.accounts(t))
	}
}

// packaged has the fixture run the programs of a root, and the configuration there names its
// job.
func (h *fixture) packaged(t *testing.T, root *scratchRoot) {
	t.Helper()
	link := filepath.Join(h.dir, "bin", "bulkload")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root.dir, "usr/bin/bulkload"), link); err != nil {
		t.Fatal(err)
	}
	if said := h.must(t, exec.Command(link, "--version")); !strings.Contains(said, "v0.1.0-test") {
		t.Fatalf("the installed program says %q", said)
	}
	h.write(t, "usertrail.environment", readFile(t, filepath.Join(root.dir, "etc/usertrail/environment")))
}

// TestTheSameSourceGivesTheSameRelease builds the release for all platforms here and in a copy
// of the source that is in another directory and has no git.
func TestTheSameSourceGivesTheSameRelease(t *testing.T) {
	testkit.OnlyAll(t, "TestTheSameTreeGivesTheSamePackages of scripts/release")
	list, err := exec.Command("git", "-C", repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate").Output()
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "somewhere else")
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		if err := copyInto(copied, string(name)); err != nil {
			t.Fatal(err)
		}
	}
	const platforms = "linux/amd64,linux/arm64,darwin/arm64"
	here, there := os.DirFS(builtRelease(t, repository, platforms)), os.DirFS(builtRelease(t, copied, platforms))
	names, err := fs.Glob(here, "*")
	if err != nil || len(names) != 11 {
		t.Fatalf("the release has %q, want two files for each platform, two packages for each with Linux, and the sums: %v", names, err)
	}
	for _, name := range names {
		a, err := fs.ReadFile(here, name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := fs.ReadFile(there, name); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another file in another directory: %v", name, err)
		}
	}
}

// copyInto copies a file of the repository into another directory.
func copyInto(dir, name string) error {
	b, err := os.ReadFile(filepath.Join(repository, name))
	if os.IsNotExist(err) {
		return nil // git lists a file that was removed, until the next commit
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	to := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(repository, name))
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, info.Mode().Perm())
}
