package manifest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// A file is one of those that Read reads.
type file interface{ version() int }

// TestNamesAreBelowTheirFolder reads each kind of file with names that lead elsewhere.
func TestNamesAreBelowTheirFolder(t *testing.T) {
	const table = `{"version":1,"layout":"reversed","family":%q,"schema":null,"splits":[],"files":[{"name":%q,"roll":%q}],"loads":[{"number":1,"name":%q}]}`
	for what, x := range map[string]struct {
		format string // with %q for each name
		good   []any
		read   func() file
	}{
		"a table":       {table, []any{"d", "d/000001-0000.hfile", "pieces/5d0c/00000.roll", "loads/000001.json"}, func() file { return new(Table) }},
		"what is begun": {`{"version":1,"rolls":[{"roll":%q}]}`, []any{"d/puts-12.roll"}, func() file { return new(Begun) }},
		"a handover": {
			`{"version":1,"load":{},"table":` + table + `,"files":[{"name":%q}]}`,
			[]any{"d", "d/1.hfile", "d/1.roll", "loads/000001.json", "d/1.hfile"}, func() file { return new(Handover) },
		},
		"retired files": {`{"version":1,"files":[{"name":%q}]}`, []any{"d/1.roll"}, func() file { return new(Retired) }},
		"a plan":        {`{"version":1,"plan":%q}`, []any{"5d0c"}, func() file { return new(Plan) }},
		"a report": {
			`{"version":1,"plan":%q,"inputs":[{"bad":%q}],"files":[{"roll":%q}]}`,
			[]any{"5d0c", "5d0c/00000-0001.bad", "pieces/5d0c/00000.roll"}, func() file { return new(Report) },
		},
		"a part of a conversion": {`{"version":1,"files":[{"name":%q,"roll":%q}]}`, []any{"d/1.hfile", "d/1.roll"}, func() file { return new(Converted) }},
		"an extract":             {`{"version":1,"parts":[{"name":%q}]}`, []any{"date=2014-09-01/part-00000.parquet"}, func() file { return new(Extract) }},
	} {
		name := filepath.Join(t.TempDir(), "file.json")
		read := func(names []any) error {
			testkit.WriteFile(t, name, string(fmt.Appendf(nil, x.format, names...)))
			return Read(t.Context(), local.New(), name, x.read())
		}
		if err := read(x.good); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for i := range x.good {
			for _, bad := range []string{"..", "../precious", "/precious", "d/../../precious", "hdfs://nn/precious", "d//1", "."} {
				names := append([]any{}, x.good...)
				names[i] = bad
				if err := read(names); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s with %q: %v, want ErrDamaged that names the file", what, names, err)
				}
			}
		}
	}
}
