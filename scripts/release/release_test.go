package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestVersionsOfPackagesKeepTheOrderOfReleases(t *testing.T) {
	described := []string{"abc1234", "v0.9.0", "v1.2.0-rc.1", "v1.2.0", "v1.2.0-5-gabc1234", "v1.10.0", "v1.10.0-dirty"}
	want := []string{"0~abc1234", "0.9.0", "1.2.0~rc.1", "1.2.0", "1.2.0+5.gabc1234", "1.10.0", "1.10.0+dirty"}
	for i, version := range described {
		if got := packageVersion(version); got != want[i] {
			t.Errorf("the package of %s has version %q, want %q", version, got, want[i])
		}
	}
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("dpkg, which knows the order of versions, is not here")
	}
	for i := range want[1:] {
		if err := exec.Command(dpkg, "--compare-versions", want[i], "lt", want[i+1]).Run(); err != nil {
			t.Errorf("for dpkg %s is not earlier than %s", want[i], want[i+1])
		}
	}
}

// packed returns a release in a directory of its own, with all packages of a tree whose
// programs are small. The files on disk have other times each time.
func packed(t *testing.T) *release { return packedIn(t, allFormats) }

func packedIn(t *testing.T, formats []string) *release {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{root: root, out: filepath.Join(dir, "out"), version: "v1.2.0", when: time.Unix(1_400_000_000, 0).UTC(), scratch: filepath.Join(dir, "scratch"), formats: formats}
	programs, texts := filepath.Join(r.scratch, "programs"), filepath.Join(r.scratch, "texts")
	for _, file := range []string{filepath.Join(programs, "bulkload"), filepath.Join(programs, "extract"), filepath.Join(texts, "share/man/man1/bulkload.1"), filepath.Join(r.out, "unrelated")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(filepath.Base(file)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := platform{"linux", "amd64"}
	tree, err := r.tree(p, programs, texts)
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.writePackages(p, tree)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.writeArchive("usertrail.tar.gz", "usertrail", tree); err != nil {
		t.Fatal(err)
	}
	if err := r.writeSums(append(names, "usertrail.tar.gz")); err != nil {
		t.Fatal(err)
	}
	return r
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheSameTreeGivesTheSamePackages(t *testing.T) {
	first, second := contents(t, packed(t).out), contents(t, packed(t).out)
	names := slices.Sorted(maps.Keys(first))
	want := []string{"SHA256SUMS", "unrelated", "usertrail-1.2.0-1.x86_64.rpm", "usertrail.tar.gz", "usertrail_1.2.0-1_amd64.deb"}
	if !slices.Equal(names, want) {
		t.Fatalf("the release has %q, want %q", names, want)
	}
	for _, name := range names {
		if first[name] != second[name] {
			t.Errorf("%s has other bytes the second time", name)
		}
	}
}

func TestOnlyTheNamedPackagesAreWritten(t *testing.T) {
	formats, err := parseFormats("tar.gz,deb")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(contents(t, packedIn(t, formats).out)))
	if want := []string{"SHA256SUMS", "unrelated", "usertrail.tar.gz", "usertrail_1.2.0-1_amd64.deb"}; !slices.Equal(names, want) {
		t.Errorf("the release has %q, want %q", names, want)
	}
	if _, err := parseFormats("deb,zip"); err == nil || !strings.Contains(err.Error(), `--formats: "zip" is not one of tar.gz, deb, rpm`) {
		t.Errorf("an unknown format: %v", err)
	}
}

// installedByPackage are files of each package: one of each kind.
var installedByPackage = []string{
	"/etc/usertrail/environment",
	"/usr/bin/bulkload",
	"/usr/bin/extract",
	"/usr/lib/systemd/system/usertrail-load.service",
	"/usr/lib/systemd/system/usertrail-load.timer",
	"/usr/lib/sysusers.d/usertrail.conf",
	"/usr/share/doc/usertrail/copyright",
	"/usr/share/doc/usertrail/docs/howto/cron.md",
	"/usr/share/man/man1/bulkload.1.gz",
}

func TestToolsOfDistributionsReadThePackages(t *testing.T) {
	out := packed(t).out
	for name, list := range map[string][]string{
		"usertrail_1.2.0-1_amd64.deb":  {"dpkg-deb", "--contents"},
		"usertrail-1.2.0-1.x86_64.rpm": {"rpm", "-qplv", "--nosignature"},
	} {
		t.Run(list[0], func(t *testing.T) {
			if _, err := exec.LookPath(list[0]); err != nil {
				t.Skipf("%s is not here", list[0])
			}
			b, err := exec.Command(list[0], append(list[1:], filepath.Join(out, name))...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			for _, file := range installedByPackage {
				if !strings.Contains(string(b), file+"\n") {
					t.Errorf("%s does not install %s:\n%s", name, file, b)
				}
			}
			for line := range strings.Lines(string(b)) {
				if !strings.Contains(strings.ReplaceAll(line, " ", ""), "rootroot") && !strings.Contains(line, "root/root") {
					t.Errorf("the owner of %q is not root", line)
				}
			}
		})
	}
}

// TestOnlyUnitsAreBelowSystemd checks that jobs/cron, which also has crontabs, adds only the units.
func TestOnlyUnitsAreBelowSystemd(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := (&release{root: root}).appendService(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range files {
		if unit, ok := strings.CutPrefix(file.path, "usr/lib/systemd/system/"); ok {
			got = append(got, unit)
		}
	}
	slices.Sort(got)
	want := []string{"usertrail-load.service", "usertrail-load.timer", "usertrail-sweep.service", "usertrail-sweep.timer"}
	if !slices.Equal(got, want) {
		t.Errorf("the package has the units %q, want %q", got, want)
	}
}

// TestTheBillNamesEachModule has this test in the place of both programs: it has modules,
// too.
func TestTheBillNamesEachModule(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := &release{out: dir, version: "v1.2.0", when: time.Unix(1_400_000_000, 0).UTC()}
	if err := r.writeBill("bill.json", dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "bill.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Format       string `json:"bomFormat"`
		SerialNumber string
		Components   []struct {
			Name, Version, PURL string
			Hashes              []struct{ Alg, Content string }
		}
	}
	if err := json.Unmarshal(b, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.Format != "CycloneDX" || !strings.HasPrefix(bill.SerialNumber, "urn:uuid:") {
		t.Errorf("the bill has format %q and serial number %q", bill.Format, bill.SerialNumber)
	}
	got := map[string]bool{}
	for _, c := range bill.Components {
		got[c.Name+" "+c.Version] = true
		if strings.HasPrefix(c.Name, "github.com/") && (len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64) {
			t.Errorf("%s has the hashes %v, want one SHA-256", c.PURL, c.Hashes)
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) < 10 {
		t.Fatal("this test knows of no modules of its own")
	}
	for _, m := range info.Deps {
		if !got[m.Path+" "+m.Version] {
			t.Errorf("the bill lacks %s %s", m.Path, m.Version)
		}
	}
	if !got["std "+strings.TrimPrefix(info.GoVersion, "go")] {
		t.Errorf("the bill lacks the standard library of %s", info.GoVersion)
	}
}

// TestADirtyTreeIsRefused checks a tree before and after a change.
func TestADirtyTreeIsRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(version string) error { return (&release{root: dir, version: version}).checkClean(t.Context()) }
	if err := check("v1.2.0"); err != nil {
		t.Errorf("without git: %v", err)
	}
	write("main.go")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a"}} {
		if _, err := command(t.Context(), dir, nil, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := check("v1.2.0"); err != nil {
		t.Errorf("a clean tree: %v", err)
	}
	write("new.go")
	if err := check("v1.2.0"); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Errorf("a tree with a new file: %v, want an error that names it", err)
	}
	if err := (&release{root: dir, version: "v1.2.0", dirty: true}).checkClean(t.Context()); err != nil {
		t.Errorf("--dirty is set, and yet: %v", err)
	}
	if err := check("v1.2.0-dirty"); err != nil {
		t.Errorf("the version ends in -dirty, and yet: %v", err)
	}
}
