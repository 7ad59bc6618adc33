// Package compat_test reads what earlier releases wrote. Each folder of testdata has the files
// of one release:
//
//	logs/, users.txt, job.yaml   the input
//	trails/                      a table of files: two loads, one of them with a bad record
//	planned/, planned.pieces     a table with a load in pieces, before its first piece
//	catalog/                     the catalog of a table in HBase
//	result-*/                    a result in each format and shape
//	query.pieces                 the pieces of an extract
//	events.csv, planned.csv      all events of trails and of planned
//
// All addresses begin with hdfs://kept/. The programs of the tests find these files in a
// local directory.
package compat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

var write = flag.String("compat.write", "", "write the files of a release into testdata: its version, such as v1.2.0")

func TestMain(m *testing.M) {
	flag.Parse()
	testkit.Main(m)
}

// A place is a directory with the files of a release, in which commands run.
type place struct {
	dir string
	t   *testing.T
}

// copied returns a copy of the files that a release wrote, with the modification times that
// the delivered files had.
func copied(t *testing.T, version string) *place {
	t.Helper()
	p := &place{dir: testkit.Scratch(t), t: t}
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", version))); err != nil {
		t.Fatal(err)
	}
	p.setTimes()
	p.keep("query.pieces", strings.ReplaceAll(p.read("query.pieces"), here, p.dir))
	return p
}

// here stands for the directory of the tests in query.pieces, which has absolute paths.
const here = "/here"

// delivered is the modification time of all delivered files.
var delivered = time.Date(2014, 9, 11, 0, 0, 0, 0, time.UTC)

func (p *place) setTimes() {
	p.t.Helper()
	err := filepath.WalkDir(filepath.Join(p.dir, "logs"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(name, delivered, delivered)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// An outcome is the exit status and the output of a command.
type outcome struct {
	status         int
	stdout, stderr string
}

// run runs a command line in p.
func (p *place) run(stdin, line string) outcome {
	p.t.Helper()
	words := strings.Fields(line)
	c := exec.CommandContext(p.t.Context(), filepath.Join(testkit.Commands(p.t), words[0]), words[1:]...)
	c.Dir, c.Stdin = p.dir, strings.NewReader(stdin)
	c.Env = append(testkit.CleanEnv(), "USERTRAIL_HDFS="+p.dir, "USER=usertrail", "TZ=UTC", "TMPDIR="+p.t.TempDir())
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		p.t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// ends runs a command line, which must end with the given status, and returns its outcome.
func (p *place) ends(status int, line string) outcome {
	p.t.Helper()
	o := p.run("", line)
	if o.status != status {
		p.t.Fatalf("%s: status %d, want %d\n%s%s", line, o.status, status, o.stdout, o.stderr)
	}
	return o
}

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// all extracts every event of a table, as CSV.
const all = " --users all --from 2014-09-01 --to 2014-09-03 --types play,order --active any --quiet"

// wantEvents compares a table with a list of events.
func (p *place) wantEvents(table, list string) {
	p.t.Helper()
	if got := p.ends(0, "extract --table "+table+all+" --format csv --out -").stdout; got != p.read(list) {
		p.t.Errorf("the events of %s are\n%s\nwant\n%s", table, got, p.read(list))
	}
}

// versions returns the releases whose files are kept.
func versions(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil || len(entries) == 0 {
		t.Fatalf("no files of any release: %v", err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// each runs a test on a copy of the files of each release.
func each(t *testing.T, test func(p *place)) {
	for _, version := range versions(t) {
		t.Run(version, func(t *testing.T) { test(copied(t, version)) })
	}
}

const trails = "hdfs://kept/trails"

func TestATableIsRead(t *testing.T) {
	each(t, func(p *place) {
		p.wantEvents(trails, "events.csv")
		for _, line := range []string{
			"extract explain --table " + trails + all,
			"extract show --table " + trails + " --user u1 --from 2014-09-01 --to 2014-09-03",
			"extract inspect " + trails,
			"bulkload inspect " + trails + " --json",
			"bulkload verify --job job.yaml",
			"bulkload runs --job job.yaml",
			"bulkload pre-check --job job.yaml --from 2014-09-01 --to 2014-09-03",
		} {
			p.ends(0, line)
		}
	})
}

func TestATableIsWrittenTo(t *testing.T) {
	each(t, func(p *place) {
		p.ends(99, "bulkload --job job.yaml --from 2014-09-01 --to 2014-09-02 --quiet")
		p.ends(0, "bulkload compact --job job.yaml --quiet")
		p.wantEvents(trails, "events.csv")
		p.ends(0, "bulkload convert --table "+trails+" --out hdfs://kept/tall --to tall --quiet")
		p.wantEvents("hdfs://kept/tall", "events.csv")
		p.ends(0, "bulkload drop --job job.yaml --before 2014-09-02 --quiet")
		p.ends(0, "bulkload undrop --job job.yaml --quiet")
		p.wantEvents(trails, "events.csv")
		p.ends(0, "bulkload --job job.yaml --from 2014-09-03 --to 2014-09-03 --quiet")
		p.ends(0, "bulkload verify --job job.yaml")
		if o := p.ends(0, "extract --table "+trails+all+" --format csv --out -"); strings.Count(o.stdout, "\n") <= strings.Count(p.read("events.csv"), "\n") {
			t.Errorf("a third night added nothing:\n%s", o.stdout)
		}
	})
}

func TestAManifestIsBuiltAgain(t *testing.T) {
	each(t, func(p *place) {
		if err := os.Remove(filepath.Join(p.dir, "trails/manifest.json")); err != nil {
			t.Fatal(err)
		}
		p.ends(0, "bulkload rebuild --job job.yaml")
		p.wantEvents(trails, "events.csv")
	})
}

// TestACatalogIsRead has a table in HBase with the rows of the kept catalog: this version loads
// them with a catalog of its own, in whose place the kept one is put.
func TestACatalogIsRead(t *testing.T) {
	each(t, func(p *place) {
		kept := filepath.Join(p.dir, "kept")
		if err := os.Rename(filepath.Join(p.dir, "catalog"), kept); err != nil {
			t.Fatal(err)
		}
		address := p.writeCatalog()
		if err := os.RemoveAll(filepath.Join(p.dir, "catalog")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(kept, filepath.Join(p.dir, "catalog")); err != nil {
			t.Fatal(err)
		}
		p.ends(0, "bulkload verify --job live.yaml")
		p.ends(0, "bulkload runs --job live.yaml")
		p.wantEvents(address+" --job live.yaml", "events.csv")
		p.ends(0, "bulkload --job live.yaml --from 2014-09-03 --to 2014-09-03 --quiet")
		p.ends(99, "bulkload --job live.yaml --from 2014-09-01 --to 2014-09-03 --quiet")
		p.ends(0, "bulkload verify --job live.yaml")
	})
}

func TestAPlanIsFinished(t *testing.T) {
	each(t, func(p *place) {
		for line := range strings.Lines(p.read("planned.pieces")) {
			if o := p.run(line, "bulkload run-piece --quiet"); o.status != 0 {
				t.Fatalf("run-piece: status %d\n%s", o.status, o.stderr)
			}
		}
		p.ends(0, "bulkload commit --pieces planned.pieces --quiet")
		p.wantEvents("hdfs://kept/planned", "planned.csv")

		for line := range strings.Lines(p.read("query.pieces")) {
			if o := p.run(line, "extract run-piece --quiet"); o.status != 0 {
				t.Fatalf("run-piece: status %d\n%s", o.status, o.stderr)
			}
		}
		p.ends(0, "extract commit --pieces query.pieces --quiet")
		p.ends(0, "extract inspect query")
	})
}

func TestResultsAreRead(t *testing.T) {
	each(t, func(p *place) {
		results, err := filepath.Glob(filepath.Join(p.dir, "result-*"))
		if err != nil || len(results) < 6 {
			t.Fatalf("the results are %q: %v", results, err)
		}
		for _, result := range results {
			name := filepath.Base(result)
			var told struct{ Events, Kept int64 }
			if err := json.Unmarshal([]byte(p.read(name+"/_manifest.json")), &told); err != nil {
				t.Fatal(err)
			}
			if o := p.ends(0, "extract inspect "+name); !strings.Contains(o.stdout, fmt.Sprint(told.Events)+" ") {
				t.Errorf("inspect of %s does not say that it has %d events:\n%s", name, told.Events, o.stdout)
			}
		}
		if o := p.ends(0, "extract report result-parquet --json"); !strings.Contains(o.stdout, `"events":8`) {
			t.Errorf("the report of a result of 8 events:\n%s", o.stdout)
		}
		p.ends(73, "extract --table "+trails+all+" --out result-parquet")
		p.ends(0, "extract --table "+trails+all+" --out result-parquet --overwrite")
	})
}

// TestTablesAndResultsAreRecognized checks that logs in and below these folders are left out, also if the files have lost their checksums.
func TestTablesAndResultsAreRecognized(t *testing.T) {
	each(t, func(p *place) {
		manifests, err := filepath.Glob(filepath.Join(p.dir, "result-*", manifest.ExtractName))
		if err != nil || len(manifests) < 6 {
			t.Fatalf("the results are %q: %v", manifests, err)
		}
		for _, name := range append(manifests, filepath.Join(p.dir, "trails", manifest.TableName), filepath.Join(p.dir, "catalog", manifest.TableName)) {
			sealed, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := bytes.Cut(sealed, []byte(","))
			for _, text := range []string{string(sealed), "{" + string(rest)} {
				testkit.WriteFile(t, name, text)
				if is, err := manifest.Written(t.Context(), local.New(), []dfs.Info{{Name: name}}); err != nil || !is {
					t.Errorf("%s, which begins with %.20q: %v, %v, want true", name, text, is, err)
				}
			}
		}
	})
}

var versionField = regexp.MustCompile(`("version": ?)1\b`)

// TestWhatANewerReleaseWroteIsRefused sets the version of each kind of file to a version that
// no release has written yet.
func TestWhatANewerReleaseWroteIsRefused(t *testing.T) {
	each(t, func(p *place) {
		piece, _, _ := strings.Cut(p.read("query.pieces"), "\n")
		for _, c := range []struct{ file, line string }{
			{"trails/manifest.json", "extract --table " + trails + all + " --out new"},
			{"trails/manifest.json", "bulkload --job job.yaml --from 2014-09-03 --to 2014-09-03"},
			{"trails/loads/000001.json", "bulkload verify --job job.yaml"},
			{"planned/plans/*/plan.json", "bulkload commit --pieces planned.pieces"},
			{"result-parquet/_manifest.json", "extract inspect result-parquet"},
			{"result-parquet/_manifest.json", "extract report result-parquet --json"},
		} {
			found, err := filepath.Glob(filepath.Join(p.dir, c.file))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s is %q: %v", c.file, found, err)
			}
			before, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			newer := versionField.ReplaceAll(before, []byte("${1}9"))
			testkit.WriteFile(t, found[0], string(newer))
			o := p.ends(64, c.line)
			if bytes.Equal(newer, before) || !strings.Contains(o.stderr, "a newer usertrail wrote it") || !strings.Contains(o.stderr, "upgrade this program") {
				t.Errorf("%s, with a newer %s, says\n%s", c.line, c.file, o.stderr)
			}
			testkit.WriteFile(t, found[0], string(before))
		}
		newer := versionField.ReplaceAllString(piece, "${1}9")
		if o := p.run(newer, "extract run-piece"); newer == piece || o.status != 64 {
			t.Errorf("a piece of a newer release: status %d, want 64\n%s", o.status, o.stderr)
		}
	})
}
