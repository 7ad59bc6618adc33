package ddl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/ddl"
	"usertrail/internal/format/manifest"
)

// result returns a result with a column of each type.
func result() *manifest.Extract {
	return &manifest.Extract{
		Query: manifest.Query{Format: "parquet"},
		Columns: []behaviour.Field{
			{Name: "user_id", Type: behaviour.String}, {Name: "date", Type: behaviour.Day}, {Name: "time", Type: behaviour.Timestamp},
			{Name: "behaviour", Type: behaviour.String}, {Name: "id", Type: behaviour.Int64},
			{Name: "price", Type: behaviour.Double}, {Name: "节目", Type: behaviour.Bool},
		},
		Parts: []manifest.TrailPart{{Name: "part-00000.parquet"}},
	}
}

// TestStatements draws the statements of all engines. The arguments of statements are dir,
// name, partition, wide, local and empty.
func TestStatements(t *testing.T) {
	datadriven.RunTest(t, "testdata/statements", func(t *testing.T, d *datadriven.TestData) string {
		m, dir, name := result(), "/data/trails", "trails"
		for _, arg := range d.CmdArgs {
			value := strings.Join(arg.Vals, "")
			switch arg.Key {
			case "dir":
				dir = strings.ReplaceAll(value, "~", " ")
			case "name":
				name = value
			case "partition":
				m.Query.PartitionBy = value
			case "wide":
				m.Query.Shape = "wide"
			case "local":
				m.Query.Times = "local"
				m.Columns = append(m.Columns, behaviour.Field{Name: "local_time", Type: behaviour.Timestamp}, behaviour.Field{Name: "utc_offset", Type: behaviour.String})
			case "empty":
				m.Parts = nil
			}
		}
		var b strings.Builder
		for _, e := range ddl.Engines {
			sql, err := ddl.Statements(m, dir, name, e)
			if err != nil {
				sql = err.Error() + "\n"
			}
			fmt.Fprintf(&b, "%s\n%s", e, sql)
		}
		return b.String()
	})
}

func TestAResultThatNoEngineReadsIsRefused(t *testing.T) {
	for says, change := range map[string]func(m *manifest.Extract){
		"the result is written as arrow: extract it again as Parquet": func(m *manifest.Extract) { m.Query.Format = "arrow" },
		"lists no columns": func(m *manifest.Extract) { m.Columns = nil },
	} {
		m := result()
		change(m)
		for _, e := range ddl.Engines {
			if _, err := ddl.Statements(m, "/data", "t", e); !errors.Is(err, ddl.ErrUnfit) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v, want ErrUnfit that says %q", e, err, says)
			}
		}
	}
	for _, dir := range []string{"/data/2014*", "/data/[a]", "/data/{a}", `/data/a\b`} {
		if _, err := ddl.Statements(result(), dir, "t", ddl.DuckDB); !errors.Is(err, ddl.ErrUnfit) || !strings.Contains(err.Error(), "rename the directory") {
			t.Errorf("%s: got %v, want ErrUnfit that says to rename the directory", dir, err)
		}
	}
	for dir, partition := range map[string]string{"/data/date=2014-09-03/active": "behaviour", "/data/Price=5": "date", "/节目=1/days": "date"} {
		m := result()
		for _, m.Query.PartitionBy = range []string{"", partition} {
			for _, e := range ddl.Engines {
				refuses := e == ddl.ClickHouse || e == ddl.DuckDB && m.Query.PartitionBy != ""
				_, err := ddl.Statements(m, dir, "t", e)
				if errors.Is(err, ddl.ErrUnfit) != refuses || refuses && !strings.Contains(err.Error(), "=") {
					t.Errorf("%s by %q, %s: got %v, want ErrUnfit %t", dir, m.Query.PartitionBy, e, err, refuses)
				}
			}
		}
	}
	if _, err := ddl.Statements(result(), "/data/year=2014/active", "t", ddl.ClickHouse); err != nil {
		t.Errorf("a directory that is not a column: %v", err)
	}
	if _, err := ddl.Statements(result(), "/data", "", ddl.Spark); !errors.Is(err, ddl.ErrUnfit) {
		t.Errorf("a table without a name: %v", err)
	}
	if _, err := ddl.Statements(result(), "/data", "t", "oracle"); !errors.Is(err, ddl.ErrUnfit) || !strings.Contains(err.Error(), "one of spark, hive") {
		t.Errorf("an unknown engine: %v", err)
	}
}
