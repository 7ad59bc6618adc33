package metamorphic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/test/testkit"
)

// A fileKind is a kind of file that a run writes and a later run reads.
type fileKind struct {
	name  string
	match string   // a regular expression for the path below the world
	reads []string // the readings that use such a file
	free  string   // why such a file may change; "" is that it may not
}

// fileKinds has every kind of file that the world below has. A file of no kind fails the test,
// so a new kind has to be listed here with its readers. Package catalog tests begun.json and
// handover.json, which only the catalog of a table in HBase has.
var fileKinds = []fileKind{
	{"manifest", `trails/manifest\.json`, []string{"verify", "pre-check", "inspect", "load", "compact", "drop", "undrop", "convert", "events", "rebuild", "commit", "plan"}, ""},
	{"ledger", `trails/loads/\d+\.json`, []string{"verify", "inspect", "load", "drop", "undrop", "convert", "events", "rebuild lost"}, ""},
	{"base", `trails/base/\d+\.json`, []string{"verify", "rebuild lost", "load"}, ""},
	{"list of retired files", `trails/retired\.json`, []string{"verify", "load", "drop", "undrop", "compact", "pre-check", "rebuild lost"}, ""},
	{"HFile", `trails/d/0[^/]+\.hfile`, []string{"verify", "events", "compact", "convert", "undrop"}, ""},
	{"merged HFile", `trails/d/r[^/]+\.hfile`, []string{"verify", "events", "drop", "convert", "undrop"}, ""},
	{"roll", `trails/d/0[^/]+\.roll`, []string{"verify", "events", "drop", "undrop", "explain"}, ""},
	{"merged roll", `trails/d/r[^/]+\.roll`, []string{"verify", "events", "drop", "explain"}, ""},
	{"plan of a load", `trails/plans/[^/]+/plan\.json`, []string{"verify", "load", "commit", "plan"}, ""},
	{"lines of a plan", `trails/plans/[^/]+/pieces\.jsonl`, []string{"commit", "run-piece"}, ""},
	{"report of a piece", `trails/plans/[^/]+/\d+\.json`, []string{"commit", "run-piece"}, ""},
	{"bad records of a piece", `trails/plans/[^/]+/[^/]+\.bad`, []string{"commit"}, ""},
	{"HFile of a piece", `trails/pieces/.*\.hfile`, []string{"commit"}, ""},
	{"roll of a piece", `trails/pieces/.*\.roll`, []string{"commit"}, ""},
	{"load that is being made", `begun/loading\.json`, []string{"begun", "verify begun", "pre-check begun"}, ""},
	{"plan of a conversion", `made/convert/plan\.json`, []string{"go on converting"}, ""},
	{"report of a conversion", `made/convert/\d+\.json`, []string{"go on converting"}, ""},
	{"HFile of a conversion", `made/d/.*\.hfile`, []string{"go on converting"}, ""},
	{"roll of a conversion", `made/d/.*\.roll`, []string{"go on converting"}, ""},
	{"manifest of a result", `out/_manifest\.json`, []string{"inspect result", "report"}, ""},
	{"users not found", `out/_not-found\.txt`, []string{"inspect result"}, ""},
	{"part", `out/part-.*`, []string{"inspect result", "report"}, ""},
	{"question", `\.killed\.partial/_question\.json`, []string{"go on extracting"}, ""},
	{"record of a part", `\.killed\.partial/_done-\d+\.json`, []string{"go on extracting"}, ""},
	{"part of a killed extract", `\.killed\.partial/part-.*`, []string{"go on extracting"}, ""},
	{"plan of an extract", `\.planned\.partial/_question\.json`, []string{"extract pieces", "plan extract"}, ""},
	{"users of a plan", `\.planned\.partial/_users`, []string{"extract pieces"}, ""},
	{"report of a piece of an extract", `\.planned\.partial/_piece-\d+\.json`, []string{"extract pieces", "plan extract"}, ""},
	{"part of a piece", `\.planned\.partial/_piece-\d+/part-.*`, []string{"extract pieces"}, ""},
	{"users not found by a piece", `\.planned\.partial/_piece-\d+/_not-found\.txt`, []string{"extract pieces"}, ""},
	{"record of a part of a piece", `\.planned\.partial/_piece-\d+/_(done-\d+|question)\.json`, []string{"extract pieces"}, ""},
	{"part without rows", `\.planned\.partial/_none/.*`, []string{"extract pieces"}, ""},
	{"quarantine", `(trails|begun)/quarantine/.*`, nil, "people edit it"},
	{"log of runs", `(trails|begun|made)/runs/.*`, nil, "it is for people, and only reports on runs"},
	{"lock", `.*\.lock|(trails|begun|made)/lock`, nil, "its text is for people"},
	{"success", `out/_SUCCESS`, nil, "it is empty, and only its name is used"},
	{"copy of a table", `(begun|made)/(loads|base|d)/.*|(begun|made)/(manifest|retired|loading)\.json|begun/(plans|pieces)/.*`, nil, "the same kinds as in trails"},
	{"written by people", `usertrail\.yaml|users\.txt|logs/.*|load\.pieces|extract\.pieces`, nil, "it is no file of usertrail"},
}

// A damageWorld is a directory with a table, plans and results, whole and half made.
type damageWorld struct {
	t        *testing.T
	p        *programs
	dir      string // where commands run
	whole    string // a copy of dir
	readings map[string]func() reading
}

// A reading is what commands said that read something.
type reading struct {
	status int
	result string // what must not change
	said   string // standard error
}

const damageJob = `logs: {path: "logs/{date}/{behaviour}.csv", max_bad: 50%}
table: {path: trails, regions: 2}
user: user_id
time: time
behaviours:
  play: {id: 1, fields: {title: string, seconds: int64}}
  order: {id: 2, fields: {price: int64}}
`

// TestNoDamageIsTakenForAResult damages the first file of each kind in several ways and, in a run
// that covers everything, the last one. A command that reads the file must refuse it and name it, or
// result as if it were whole. In other runs a third of several commands read the file after each damage.
// Each way of damage and each command has its turn.
func TestNoDamageIsTakenForAResult(t *testing.T) {
	w := newDamageWorld(t)
	was := map[string]reading{}
	for _, kind := range fileKinds {
		for _, name := range kind.reads {
			if _, ok := was[name]; !ok {
				w.restore()
				was[name] = w.readings[name]()
				if got := was[name]; got.status != 0 {
					t.Fatalf("%s of what is whole: status %d\n%s", name, got.status, got.said)
				}
			}
		}
	}
	for i, files := range w.byKind() {
		kind := &fileKinds[i]
		if len(files) == 0 {
			t.Errorf("there is no file of the kind %s", kind.name)
		}
		if kind.free != "" || len(files) == 0 {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			first, last := files[0], files[len(files)-1]
			refused := w.damaged(t, kind, first, last, was)
			if last != first && testkit.All() {
				refused += w.damaged(t, kind, last, first, was)
			}
			t.Logf("%d readings refused", refused)
		})
	}
}

// Ways of damage. If the file is removed, a command may name the folder or the plan that the file belongs to.
const (
	removed    = "removed"
	aDirectory = "a directory"
)

// wrongName lists the kinds whose name may be of another directory: without a manifest it is no table,
// and a plan is made again. A command then ends with 64.
var wrongName = []string{"manifest", "plan of an extract", "users of a plan"}

// damaged damages one file, removes it, or puts another of its kind in its place. It returns how many readings
// refused it.
func (w *damageWorld) damaged(t *testing.T, kind *fileKind, file, another string, was map[string]reading) (refused int) {
	ways := damages(t, filepath.Join(w.whole, file))
	b, err := os.ReadFile(filepath.Join(w.whole, another))
	if err != nil {
		t.Fatal(err)
	}
	ways["replaced by "+another] = b
	path := filepath.Join(w.dir, file)
	remove := func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	spoils := map[string]func(){removed: remove, aDirectory: func() { remove(); testkit.WriteFile(t, filepath.Join(path, "file"), "") }}
	for what, b := range ways {
		spoils[what] = func() { testkit.WriteFile(t, path, string(b)) }
	}
	turn := slices.IndexFunc(fileKinds, func(k fileKind) bool { return k.name == kind.name })
	for i, what := range slices.Sorted(maps.Keys(spoils)) {
		for j, name := range kind.reads {
			if !testkit.All() && len(kind.reads) > 1 && (turn+i+j)%3 != 0 {
				continue
			}
			w.restore()
			spoils[what]()
			got, want := w.readings[name](), was[name]
			switch {
			case got.status == 0 && got.result != want.result:
				t.Errorf("%s, %s: %s has another result:\n%s\nwant\n%s", file, what, name, clip(got.result), clip(want.result))
			case got.status == 0:
			case got.status == 64 && what == aDirectory && !slices.Contains(wrongName, kind.name):
				t.Errorf("%s, %s: %s: status 64, want 1, because the command line is right:\n%s%s", file, what, name, got.result, got.said)
			case got.status == 73 && ways[what] == nil: // it looks like another program's: "move it away"
				refused++
			case !slices.Contains([]int{1, 64, 75}, got.status) || strings.Contains(got.said, "panic:") || !strings.Contains(got.said+got.result, filepath.Base(file)) && what != removed:
				t.Errorf("%s, %s: %s: status %d, want that the file is named:\n%s%s", file, what, name, got.status, got.result, got.said)
			default:
				refused++
			}
		}
	}
	return refused
}

// checksumField matches the checksum of a JSON file. Without it the file is as long as before if
// there are spaces in its place.
var checksumField = regexp.MustCompile(`"sha256": "[^"]*",`)

// TestOtherVersionsAreRefused changes the version of each file that has one to a later or an
// earlier version. A command that reads the file names it, both versions and the next step.
func TestOtherVersionsAreRefused(t *testing.T) {
	w := newDamageWorld(t)
	const ours = "\n \"version\": 1"
	versioned := 0
	for i, files := range w.byKind() {
		kind := &fileKinds[i]
		if kind.free != "" || len(files) == 0 {
			continue
		}
		file := files[0]
		b, err := os.ReadFile(filepath.Join(w.whole, file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte(ours)) {
			continue
		}
		versioned++
		newest := manifest.Version
		switch {
		case filepath.Base(file) == manifest.TableName || strings.Contains(file, "/base/"):
			newest = manifest.RereadVersion
		case strings.Contains(file, "/loads/"):
			newest = manifest.RereadLedgerVersion
		}
		knows := fmt.Sprint("knows ", newest)
		for version, step := range map[string]string{"7": "upgrade this program", "0": "which no release wrote"} {
			damaged := bytes.Replace(b, []byte(ours), []byte("\n \"version\": "+version), 1)
			damaged = checksumField.ReplaceAllFunc(damaged, func(b []byte) []byte { return bytes.Repeat([]byte(" "), len(b)) })
			w.otherVersion(t, kind, file, damaged, []string{filepath.Base(file), "version " + version, knows, step})
		}
	}
	if versioned < 9 {
		t.Errorf("only %d kinds have a version", versioned)
	}
}

// otherVersion has the readings of a kind read another version of a file. The message of a
// reading that refuses it must have all of want.
func (w *damageWorld) otherVersion(t *testing.T, kind *fileKind, file string, damaged []byte, want []string) {
	refused := 0
	look := func(name string, read func() reading) {
		w.restore()
		testkit.WriteFile(t, filepath.Join(w.dir, file), string(damaged))
		got := read()
		if got.status == 0 {
			return
		}
		refused++
		for _, part := range want {
			if !strings.Contains(got.said+got.result, part) || strings.Contains(got.said, "panic:") {
				t.Errorf("%s with %s: %s: status %d, want %q in\n%s%s", file, want[1], name, got.status, part, got.result, got.said)
				break
			}
		}
	}
	for _, name := range kind.reads {
		look(name, w.readings[name])
	}
	if refused == 0 {
		t.Errorf("%s with %s: no command refuses it", file, want[1])
	}
	if slices.Contains([]string{"manifest", "ledger", "manifest of a result"}, kind.name) {
		before := refused
		look("inspect of it", func() reading { return w.said("", "bulkload", "inspect", file) })
		look("inspect of it as JSON", func() reading { return w.said("", "bulkload", "inspect", "--json", file) })
		if refused != before+2 {
			t.Errorf("%s with %s: inspect shows it", file, want[1])
		}
	}
}

func clip(s string) string { return s[:min(len(s), 600)] }

// byKind returns the files of each kind. Every file has one kind.
func (w *damageWorld) byKind() [][]string {
	out := make([][]string, len(fileKinds))
	err := filepath.WalkDir(w.whole, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(w.whole, path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(fileKinds, func(k fileKind) bool {
			return regexp.MustCompile(`^(?:` + k.match + `)$`).MatchString(name)
		})
		if i < 0 {
			w.t.Errorf("%s is a file of no kind: list its kind with those who read it", name)
			return nil
		}
		out[i] = append(out[i], name)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// damages returns the damaged contents of a file: one byte differs, the file is cut, or it is empty.
func damages(t *testing.T, path string) map[string][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.TrimRight(b, "\n") // white space at the end means nothing
	out := map[string][]byte{"cut to half": b[:len(b)/2], "empty": {}, "without its last byte": b[:len(b)-1]}
	at := map[string]int{"first byte": 0, "middle byte": len(b) / 2, "last byte but one": max(len(b)-2, 0)}
	for what, i := range at {
		c := slices.Clone(b)
		c[i] ^= 1
		out["another "+what] = c
	}
	if json.Valid(b) {
		for i := range testkit.Pick(3, 12) {
			out[fmt.Sprintf("another digit (%d)", i)] = otherDigit(b, 97*i+7)
		}
	}
	return out
}
