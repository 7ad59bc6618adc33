package manifest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// manyTexts returns n texts of a job.
func manyTexts(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("text-%05d", i)] = "play"
	}
	return out
}

// ledgerOf returns the ledger of a load of some files. Each file has all texts.
func ledgerOf(files int, all map[string]string) *manifest.Load {
	l := &manifest.Load{Version: manifest.Version, Number: 1, Inputs: []manifest.Input{}, Days: []manifest.Day{}}
	for i := range files {
		l.Inputs = append(l.Inputs, manifest.Input{
			Path: fmt.Sprintf("%05d.csv", i), Number: uint32(i), Part: &manifest.Part{Behaviours: kinds("play"), Texts: all},
		})
	}
	return l
}

// TestAFileHasTextsOnce compares the sizes of ledgers of jobs with many texts and of files without texts.
func TestAFileHasTextsOnce(t *testing.T) {
	size := func(files, texts int) int {
		t.Helper()
		b, err := manifest.Seal(ledgerOf(files, manyTexts(texts)))
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	texts, files := size(1, 2000)-size(1, 0), size(100, 0)-size(1, 0)
	if got, most := size(100, 2000), size(1, 0)+texts+files; got > most {
		t.Errorf("a ledger of 100 files and 2,000 texts has %d bytes, want at most %d", got, most)
	}
}

// TestTextsAreReadAsTheyWereWritten writes and reads each file that has parts. Parts with equal texts
// share one map after that.
func TestTextsAreReadAsTheyWereWritten(t *testing.T) {
	part := func(texts map[string]string) *manifest.Part {
		return &manifest.Part{Behaviours: kinds("play"), Texts: texts}
	}
	inputs := func() []manifest.Input {
		var all []manifest.Input
		for _, p := range []*manifest.Part{
			part(texts("a&b", "play", "order", "order")), nil, part(texts()), part(nil), part(texts("order", "order", "a&b", "play")), part(texts("c", "play")),
		} {
			all = append(all, manifest.Input{Path: "a<b.csv", Part: p})
		}
		return all
	}
	leftOut := []manifest.LeftOut{{Path: "left", Part: part(texts("c", "play"))}, {Path: "whole"}}
	load := func() *manifest.Load {
		return &manifest.Load{Version: manifest.Version, Inputs: inputs(), LeftOut: leftOut}
	}
	table := &manifest.Table{Family: "t", Loads: []manifest.LoadRef{{Name: "loads/000001.json"}}}
	plan := &manifest.Plan{Version: manifest.Version, ID: "plan", LeftOut: leftOut}
	report := &manifest.Report{Version: manifest.Version, Plan: "plan"}
	for _, in := range inputs() {
		plan.Inputs = append(plan.Inputs, manifest.PlannedFile{Path: in.Path, Part: in.Part})
		report.Inputs = append(report.Inputs, manifest.Outcome{Input: in})
	}
	dir := t.TempDir()
	for _, c := range []struct {
		written, read any
	}{
		{load(), new(manifest.Load)},
		{&manifest.Handover{Version: manifest.Version, Load: load(), Table: table}, new(manifest.Handover)},
		{&manifest.Begun{Version: manifest.Version, Inputs: inputs()}, new(manifest.Begun)},
		{plan, new(manifest.Plan)},
		{report, new(manifest.Report)},
	} {
		name := filepath.Join(dir, "file.json")
		if err := manifest.Write(t.Context(), local.New(), name, c.written); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), `"a&b": "play"`); n != 1 {
			t.Errorf("%T: a text occurs %d times, want once:\n%s", c.written, n, b)
		}
		if err := read(t, name, c.read); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(c.read, c.written) {
			t.Errorf("%T is read as\n%+v\nwant\n%+v", c.written, c.read, c.written)
		}
		again := filepath.Join(dir, "again.json")
		if err := manifest.Write(t.Context(), local.New(), again, c.read); err != nil {
			t.Fatal(err)
		}
		if twice, err := os.ReadFile(again); err != nil || string(twice) != string(b) {
			t.Errorf("%T: after reading, it is written as\n%s\nwant\n%s (error %v)", c.written, twice, b, err)
		}
	}
}

// read reads a file into one of the types that have parts.
func read(t *testing.T, name string, into any) error {
	t.Helper()
	switch v := into.(type) {
	case *manifest.Load:
		return manifest.Read(t.Context(), local.New(), name, v)
	case *manifest.Handover:
		return manifest.Read(t.Context(), local.New(), name, v)
	case *manifest.Begun:
		return manifest.Read(t.Context(), local.New(), name, v)
	case *manifest.Plan:
		return manifest.Read(t.Context(), local.New(), name, v)
	case *manifest.Report:
		return manifest.Read(t.Context(), local.New(), name, v)
	}
	t.Fatalf("%T", into)
	return nil
}

// TestPartsShareTheirTexts reads ledgers. Their parts do not have maps of their own.
func TestPartsShareTheirTexts(t *testing.T) {
	var shared manifest.TextList
	at := map[uintptr]bool{}
	for i := range 3 {
		name := filepath.Join(t.TempDir(), "000001.json")
		written := ledgerOf(4, manyTexts(10))
		if i == 2 {
			written.Inputs[3].Part.Texts = manyTexts(11)
		}
		if err := manifest.Write(t.Context(), local.New(), name, written); err != nil {
			t.Fatal(err)
		}
		l := new(manifest.Load)
		if err := manifest.Read(t.Context(), local.New(), name, l); err != nil {
			t.Fatal(err)
		}
		if a, b := l.Inputs[0].Part.Texts, l.Inputs[1].Part.Texts; reflect.ValueOf(a).Pointer() != reflect.ValueOf(b).Pointer() {
			t.Errorf("ledger %d: two parts have maps of their own", i)
		}
		shared.Share(l)
		if !reflect.DeepEqual(l, written) {
			t.Errorf("ledger %d is\n%+v\nwant\n%+v", i, l, written)
		}
		for _, in := range l.Inputs {
			at[reflect.ValueOf(in.Part.Texts).Pointer()] = true
		}
	}
	if len(shared) != 2 || len(at) != 2 {
		t.Errorf("three ledgers with two lists of texts share %d lists, and have %d", len(shared), len(at))
	}
}

// TestTextsThatAreMissing reads parts that refer to texts which their file does not have.
func TestTextsThatAreMissing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "000001.json")
	for _, text := range []string{
		`{"version": 1, "inputs": [{"part": {"behaviours": ["play"], "texts_at": 0}}]}`,
		`{"version": 1, "inputs": [{"part": {"behaviours": ["play"], "texts_at": 1}}], "texts": [{}]}`,
		`{"version": 1, "inputs": [{"part": {"behaviours": ["play"], "texts_at": -1}}], "texts": [{}]}`,
		`{"version": 1, "left_out": [{"part": {"behaviours": ["play"], "texts_at": 0}}], "texts": [null]}`,
	} {
		testkit.WriteFile(t, name, text)
		err := manifest.Read(t.Context(), local.New(), name, new(manifest.Load))
		if !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "damaged ledger: the texts_at of a part is ") {
			t.Errorf("%s: got %v, want a damaged ledger", text, err)
		}
	}
}
