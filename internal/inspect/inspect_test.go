package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/inspect"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// makeWorld writes one file or directory of each kind below a directory.
func makeWorld(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	fs := local.New()
	makeTable(t, fs, filepath.Join(dir, "trails"))
	makeCatalog(t, fs, filepath.Join(dir, "catalog"))
	makeExtract(t, fs, filepath.Join(dir, "out"))
	makeParts(t, filepath.Join(dir, "parts"))
	writeFile(t, dir, "trails/quarantine/2014-09-01__play.csv.jsonl", []byte(bad))
	makeForeign(t, fs, filepath.Join(dir, "away/foreign"))
	for copy, from := range map[string]string{
		"away/cells":      "trails/d/000001-0001.hfile",
		"away/users":      "trails/d/000001-0001.roll",
		"away/table.json": "trails/manifest.json",
		"broken/d/cells":  "trails/d/000001-0001.hfile",
	} {
		writeFile(t, dir, copy, readFile(t, dir, from))
	}
	parquet := readFile(t, dir, "out/part-00000.parquet")
	writeFile(t, dir, "other/half.parquet", parquet[:len(parquet)/2])
	writeFile(t, dir, "other/foreign.parquet", bytes.ReplaceAll(parquet, []byte("user_id"), []byte("cust_id")))
	writeFile(t, dir, "other/long.parquet", append(parquet[:len(parquet)-8:len(parquet)-8], "\xff\xff\xff\xffPAR1"...))
	for name, s := range map[string]string{
		"broken/manifest.json": `{"version":1,"layout":"reversed"`,

		"other/empty":      "",
		"other/text":       "user,time\n",
		"other/log.gz":     "\x1f\x8b\x08 and so on",
		"other/log.csv":    "user_id,time,programme,seconds\n",
		"other/plays.json": `{"user_id":"u1","time":"2014-09-01"}` + "\n",
		"other/log.jsonl":  `{"user":"u1","time":"2014-09-01"}` + "\n",
		"other/half.json":  `{"user":[1,2`,
		"other/bad.json":   `{"user":[1,,2]}`,
		"other/later.json": `{"version":4,"layout":"reversed","schema":{}}`,
		"other/none.json":  `{"version":1,"layout":"reversed","family":"d","schema":null}`,
		"other/bad.jsonl":  strings.Replace(bad, `"line":9`, `"line":"nine"`, 1),
	} {
		writeFile(t, dir, name, []byte(s))
	}
	return dir
}

func writeFile(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, path, string(b))
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDrawings inspects one of each kind, as text and as JSON:
//
//	inspect PATH [rows=N] [json]
func TestDrawings(t *testing.T) {
	dir := makeWorld(t)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "inspect" || len(d.CmdArgs) == 0 {
				d.Fatalf(t, "want inspect PATH")
			}
			return strings.ReplaceAll(draw(t, d, filepath.Join(dir, d.CmdArgs[0].Key)), dir+"/", "")
		})
	})
}

func draw(t *testing.T, d *datadriven.TestData, path string) string {
	var o inspect.Options
	asJSON := false
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "rows":
			o.Rows = atoi(t, d, a.Vals[0])
		case "json":
			asJSON = true
		}
	}
	r, err := inspect.Path(t.Context(), local.New(), path, o)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b bytes.Buffer
	if asJSON {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		err = enc.Encode(r)
	} else {
		err = r.Text(&b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func atoi(t *testing.T, d *datadriven.TestData, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

func TestErrorsKeepTheirKind(t *testing.T) {
	dir := makeWorld(t)
	for path, want := range map[string]error{
		"trails/none":     iofs.ErrNotExist,
		"none/none":       iofs.ErrNotExist,
		"trails/d":        inspect.ErrUnknown,
		"other/empty":     inspect.ErrUnknown,
		"other/text":      inspect.ErrUnknown,
		"other/log.gz":    inspect.ErrUnknown,
		"other/log.jsonl": inspect.ErrUnknown,
		"other/half.json": inspect.ErrUnknown,
	} {
		_, err := inspect.Path(t.Context(), local.New(), filepath.Join(dir, path), inspect.Options{})
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
}

func TestStopsWhenCancelled(t *testing.T) {
	dir := makeWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"trails", "out", "trails/d/000001-0001.hfile"} {
		_, err := inspect.Path(ctx, local.New(), filepath.Join(dir, path), inspect.Options{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want it cancelled", path, err)
		}
	}
}

// TestOthersHFiles inspects files that HBase's own writer made.
func TestOthersHFiles(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testkit.Shared(t, "data/hfile"), "*.hfile"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found %d HFiles: %v", len(paths), err)
	}
	for _, path := range paths {
		r, err := inspect.Path(t.Context(), local.New(), path, inspect.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		var cells, bytes int64
		for _, b := range r.HFile.Types {
			cells, bytes = cells+b.Cells, bytes+b.Size
		}
		if cells != r.HFile.Cells || bytes+4096 != r.Size {
			t.Errorf("%s: blocks of %d cells in %d bytes; the file has %d in %d", path, cells, bytes, r.HFile.Cells, r.Size)
		}
		if len(r.HFile.Head) != int(min(10, cells)) {
			t.Errorf("%s: %d first cells of %d", path, len(r.HFile.Head), cells)
		}
	}
}

// formats lists the files that our own writers make.
var formats = []string{
	"trails/d/000001-0001.hfile",
	"trails/d/000001-0001.roll",
	"trails/manifest.json",
	"trails/loads/000001.json",
	"trails/quarantine/2014-09-01__play.csv.jsonl",
	"out/_manifest.json",
	"out/part-00000.parquet",
}

// TestSurvivesDamage truncates each file and flips bits in it. The result must be an error,
// or a report that can be written.
func TestSurvivesDamage(t *testing.T) {
	dir := makeWorld(t)
	for _, name := range formats {
		t.Run(filepath.Base(name), func(t *testing.T) {
			whole := readFile(t, dir, name)
			step := max(1, len(whole)/70)
			for at := 0; at < len(whole); at += step {
				see(t, dir, name, whole[:at])
				flipped := bytes.Clone(whole)
				flipped[at] ^= 1 << (at % 8)
				see(t, dir, name, flipped)
			}
			if err := see(t, dir, name, whole); err != nil {
				t.Errorf("whole again: %v", err)
			}
		})
	}
}

// see inspects a file with the bytes b and writes the report.
func see(t testing.TB, dir, name string, b []byte) error {
	t.Helper()
	writeFile(t, dir, name, b)
	r, err := inspect.Path(t.Context(), local.New(), filepath.Join(dir, name), inspect.Options{Rows: 3})
	if err != nil {
		return err
	}
	if err := r.Text(new(bytes.Buffer)); err != nil {
		t.Fatalf("text: %v", err)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Fatalf("JSON: %v", err)
	}
	return nil
}

// TestDamagedCellsAreAnError checks that every wrong bit in the blocks of an HFile is
// reported.
func TestDamagedCellsAreAnError(t *testing.T) {
	dir := makeWorld(t)
	const name = "trails/d/000001-0001.hfile"
	whole := readFile(t, dir, name)
	for at := range len(whole) - 4096 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x10
		if err := see(t, dir, name, flipped); err == nil {
			t.Errorf("byte %d is wrong, and nothing was said", at)
		}
	}
}

func FuzzPath(f *testing.F) {
	dir := makeWorld(f)
	for _, name := range formats {
		f.Add(readFile(f, dir, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		// Path decides whether the bytes are an error. The test only checks that it does not
		// panic and that the error has its prefix.
		if err := see(t, dir, "fuzz/x", b); err != nil && !strings.HasPrefix(err.Error(), "inspect ") {
			t.Errorf("an error that does not name its place: %v", err)
		}
	})
}
