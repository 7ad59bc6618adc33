package manifest_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// textOf returns a manifest as it is written.
func textOf(t *testing.T, v any) string {
	t.Helper()
	text, err := manifest.Seal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// unsealed returns a manifest without its checksum.
func unsealed(text string) string {
	_, rest, _ := strings.Cut(text, ",")
	return "{" + rest
}

func someResult() *manifest.Extract {
	return &manifest.Extract{Version: manifest.Version, Query: manifest.Query{Active: "any", Users: manifest.Everyone, Format: "csv"}, Parts: []manifest.TrailPart{{Name: "part-00000.csv"}}}
}

// TestWritten has manifests of this program, whole, damaged and of a newer release, and files of the same names that other programs wrote.
func TestWritten(t *testing.T) {
	result, table := textOf(t, someResult()), textOf(t, someTable())
	newer := func(text string) string { return strings.Replace(text, `"version": 1`, `"version": 9`, 1) }
	for what, c := range map[string]struct {
		name, text string
		want       bool
	}{
		"a result":                         {manifest.ExtractName, result, true},
		"a result without a checksum":      {manifest.ExtractName, unsealed(result), true},
		"a changed result":                 {manifest.ExtractName, strings.Replace(result, "part-00000", "part-00001", 1), true},
		"a result with more text":          {manifest.ExtractName, result + "x", true},
		"the beginning of a result":        {manifest.ExtractName, result[:100], true},
		"a newer result":                   {manifest.ExtractName, newer(result), true},
		"a newer result without checksum":  {manifest.ExtractName, newer(unsealed(result)), true},
		"a damaged result, no checksum":    {manifest.ExtractName, strings.TrimSuffix(unsealed(result), "}\n"), true},
		"a table":                          {manifest.TableName, table, true},
		"a table without a checksum":       {manifest.TableName, unsealed(table), true},
		"the beginning of a table":         {manifest.TableName, table[:100], true},
		"a newer table":                    {manifest.TableName, newer(table), true},
		"a result by the name of a table":  {manifest.TableName, unsealed(result), false},
		"a table by the name of a result":  {manifest.ExtractName, unsealed(table), false},
		"a result by another name":         {"result.json", result, false},
		"no JSON":                          {manifest.ExtractName, "name,size\n", false},
		"an empty file":                    {manifest.ExtractName, "", false},
		"an empty object":                  {manifest.ExtractName, "{}", false},
		"a list":                           {manifest.ExtractName, `[{"version": 1}]`, false},
		"only a version":                   {manifest.ExtractName, `{"version":1}`, false},
		"another version":                  {manifest.ExtractName, `{"version":9, "files": []}`, false},
		"a list of files":                  {manifest.ExtractName, `{"version": 1, "files": [{"name": "a.csv"}]}`, false},
		"another table with parts":         {manifest.ExtractName, `{"version":1,"table":"events","parts":[{"name":"a.csv"}],"columns":null,"users":0}`, false},
		"another checksum":                 {manifest.ExtractName, `{"sha256":"` + strings.Repeat("0", 64) + `","name":"a.csv"}`, false},
		"another table":                    {manifest.TableName, `{"version":1,"files":[],"loads":[]}`, false},
		"another schema":                   {manifest.TableName, `{"version":1,"layout":"x","schema":{"columns":["a"]}}`, false},
		"an application of a browser":      {manifest.TableName, `{"name":"app","version":"1.0","manifest_version":3}`, false},
		"a very long file of other fields": {manifest.TableName, `{"entries": [` + strings.Repeat("1, ", 1<<20) + `1]}`, false},
	} {
		dir := t.TempDir()
		testkit.WriteFile(t, filepath.Join(dir, "play.csv"), "a\n")
		testkit.WriteFile(t, filepath.Join(dir, c.name), c.text)
		infos, err := local.New().List(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := manifest.Written(t.Context(), local.New(), infos); err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", what, got, err, c.want)
		}
	}
}

// TestWrittenOfWhatCannotBeRead has a manifest that is no file, one that disappears, and one that cannot be read.
func TestWrittenOfWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, manifest.ExtractName)
	of := func(info dfs.Info) (bool, error) {
		return manifest.Written(t.Context(), dfstest.FaultAt(local.New(), 0), []dfs.Info{info})
	}
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := local.New().Stat(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range []dfs.Info{info, {Name: dir + "/" + manifest.TableName, Dir: true}} {
		if got, err := of(info); got || err != nil {
			t.Errorf("%+v: %v, %v; want no manifest", info, got, err)
		}
	}
	if got, err := manifest.Written(t.Context(), local.New(), []dfs.Info{{Name: dir + "/" + manifest.TableName}}); got || err != nil {
		t.Errorf("a file that is not there any more: %v, %v", got, err)
	}
	if got, err := of(dfs.Info{Name: dir + "/" + manifest.TableName}); got || !errors.Is(err, dfstest.ErrInjected) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that cannot be read: %v, %v; want the error", got, err)
	}
}
