// Package ddl writes the statements that make a result of extract a table of another program.
// A result is Parquet in a directory, or in one directory for each value of a column, as in Hive.
package ddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

// An Engine is a program that has tables.
type Engine string

// The engines.
const (
	Spark      Engine = "spark"
	Hive       Engine = "hive"
	Trino      Engine = "trino"
	DuckDB     Engine = "duckdb"
	ClickHouse Engine = "clickhouse"
)

// Engines lists all engines.
var Engines = []Engine{Spark, Hive, Trino, DuckDB, ClickHouse}

// ErrUnfit is returned for a result that an engine cannot have as a table.
var ErrUnfit = exit.New(exit.Usage, "no table for this engine")

// A dialect is the SQL of an engine.
type dialect struct {
	quotes  string // around a name; doubled in it
	escapes bool   // a backslash in a string is an escape
	types   map[behaviour.Type]string
	write   func(t *table) string
	globs   string // characters that a pattern of files cannot have as they are; empty if the engine takes no pattern
	hdfs    bool   // the engine reads HDFS

	// The engine takes the values of a column from a directory such as date=2014-09-01, also from one above the result.
	// DuckDB does so only if the result is partitioned.
	hive, hivePartitioned bool
}

// localTime is the type of a column of local times, for dialect.types.
const localTime behaviour.Type = "local time"

// dialects has the SQL of each engine:
//
//	Spark       spark.apache.org/docs/latest/sql-ref-syntax-ddl-create-table-datasource.html
//	Hive        cwiki.apache.org/confluence/display/Hive/LanguageManual+DDL
//	Trino       trino.io/docs/current/connector/hive.html
//	DuckDB      duckdb.org/docs/stable/data/partitioning/hive_partitioning
//	ClickHouse  clickhouse.com/docs/engines/table-engines/special/file
var dialects = map[Engine]*dialect{
	Spark: {quotes: "`", escapes: true, hdfs: true, write: (*table).spark, types: map[behaviour.Type]string{
		behaviour.String: "STRING", behaviour.Int64: "BIGINT", behaviour.Double: "DOUBLE", behaviour.Bool: "BOOLEAN", behaviour.Timestamp: "TIMESTAMP", localTime: "TIMESTAMP_NTZ", behaviour.Day: "DATE"}},
	Hive: {quotes: "`", escapes: true, hdfs: true, write: (*table).hive, types: map[behaviour.Type]string{
		behaviour.String: "STRING", behaviour.Int64: "BIGINT", behaviour.Double: "DOUBLE", behaviour.Bool: "BOOLEAN", behaviour.Timestamp: "TIMESTAMP", localTime: "TIMESTAMP", behaviour.Day: "DATE"}},
	Trino: {quotes: `"`, hdfs: true, write: (*table).trino, types: map[behaviour.Type]string{
		behaviour.String: "VARCHAR", behaviour.Int64: "BIGINT", behaviour.Double: "DOUBLE", behaviour.Bool: "BOOLEAN", behaviour.Timestamp: "TIMESTAMP(6)", localTime: "TIMESTAMP(6)", behaviour.Day: "DATE"}},
	DuckDB: {quotes: `"`, globs: `*?[]{}\`, hivePartitioned: true, write: (*table).duckDB, types: map[behaviour.Type]string{
		behaviour.String: "VARCHAR", behaviour.Int64: "BIGINT", behaviour.Double: "DOUBLE", behaviour.Bool: "BOOLEAN", behaviour.Timestamp: "TIMESTAMPTZ", localTime: "TIMESTAMP", behaviour.Day: "DATE"}},
	ClickHouse: {quotes: "`", escapes: true, globs: "*?[]{}", hdfs: true, hive: true, write: (*table).clickHouse, types: map[behaviour.Type]string{
		behaviour.String: "String", behaviour.Int64: "Int64", behaviour.Double: "Float64", behaviour.Bool: "Bool", behaviour.Timestamp: "DateTime64(6, 'UTC')", localTime: "DateTime64(6, 'UTC')", behaviour.Day: "Date32"}},
}

// A table is a result, and how an engine sees it.
type table struct {
	*dialect
	names     []string // the parts of the table's name
	name      string   // all of them, quoted
	dir       string
	columns   []behaviour.Field // without the column that partitions
	partition *behaviour.Field  // nil if there is none
	wide      bool              // a row is a user
	empty     bool              // no file has the columns
}

// Statements returns the statements that make the result with the manifest m, in the directory
// dir, the table called name of an engine. dir is an absolute path or an hdfs:// address. A
// name may have several parts, such as schema.table.
func Statements(m *manifest.Extract, dir, name string, e Engine) (string, error) {
	d := dialects[e]
	if d == nil {
		return "", fmt.Errorf("%w: %q is not an engine: it is one of %s", ErrUnfit, e, Names())
	}
	remote := dfs.Scheme(dir) != ""
	switch {
	case slices.Contains(strings.Split(name, "."), ""), strings.Contains(name, `\`):
		return "", fmt.Errorf("%w: %q cannot be the name of a table", ErrUnfit, name)
	case m.Query.Format != "parquet":
		return "", fmt.Errorf("%w: the result is written as %s: extract it again as Parquet", ErrUnfit, m.Query.Format)
	case len(m.Columns) == 0:
		return "", fmt.Errorf("%w: the manifest lists no columns, as in results of old releases: extract it again", ErrUnfit)
	case remote && !d.hdfs:
		return "", fmt.Errorf("%w: %s does not read HDFS: copy the result to a local directory", ErrUnfit, e)
	case strings.ContainsAny(dir, d.globs):
		return "", fmt.Errorf("%w: %s finds files by a pattern, and the name has characters of patterns: rename the directory", ErrUnfit, e)
	}
	if folder := columnOf(dir, m.Columns); folder != "" && (d.hive || d.hivePartitioned && m.Query.PartitionBy != "") {
		return "", fmt.Errorf("%w: %s takes a column of all rows from %q in the path: move the result, or rename that directory", ErrUnfit, e, folder)
	}
	shape := trailfile.Shape(m.Query.Shape)
	t := &table{dialect: d, dir: dir, names: strings.Split(name, "."), wide: shape == trailfile.WideShape, empty: len(m.Parts) == 0}
	var parts []string
	for _, part := range t.names {
		parts = append(parts, t.quote(part))
	}
	t.name = strings.Join(parts, ".")
	for _, c := range m.Columns {
		if m.Query.Times != "" && shape.IsLocal(c.Name) {
			c.Type = localTime
		}
		if c.Name == m.Query.PartitionBy {
			t.partition = &c
		} else {
			t.columns = append(t.columns, c)
		}
	}
	return t.write(t), nil
}

// columnOf returns the first directory of a path that has the name of a column and a value, such as date=2014-09-01.
func columnOf(dir string, columns []behaviour.Field) string {
	for folder := range strings.SplitSeq(dir, "/") {
		name, _, found := strings.Cut(folder, "=")
		if found && slices.ContainsFunc(columns, func(c behaviour.Field) bool { return strings.EqualFold(c.Name, name) }) {
			return folder
		}
	}
	return ""
}

// Names returns the names of all engines, such as "spark, hive or trino".
func Names() string {
	var all []string
	for _, e := range Engines {
		all = append(all, string(e))
	}
	return english.WordSeries(all, "or")
}

// quote returns a name as an identifier.
func (t *table) quote(name string) string {
	return t.quotes + strings.ReplaceAll(name, t.quotes, t.quotes+t.quotes) + t.quotes
}

// text returns s as a string.
func (t *table) text(s string) string {
	if t.escapes {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// listed returns the names of the columns, one on a line.
func (t *table) listed(columns []behaviour.Field) string {
	var lines []string
	for _, c := range columns {
		lines = append(lines, "  "+t.quote(c.Name))
	}
	return strings.Join(lines, ",\n")
}

// define returns the columns with their types, one on a line.
func (t *table) define(columns []behaviour.Field, typed func(behaviour.Field) string) string {
	var lines []string
	for _, c := range columns {
		lines = append(lines, "  "+t.quote(c.Name)+" "+typed(c))
	}
	return strings.Join(lines, ",\n")
}

func (t *table) typed(c behaviour.Field) string { return t.types[c.Type] }

// url returns the directory as a URL, as Hadoop's file systems want it.
func (t *table) url() string {
	if dfs.Scheme(t.dir) != "" {
		return t.dir
	}
	return "file://" + t.dir
}

// files returns the pattern of the parts.
func (t *table) files() string {
	if t.partition != nil {
		return dfs.Join(t.dir, t.partition.Name+"=*", "*.parquet")
	}
	return dfs.Join(t.dir, "*.parquet")
}

// all returns the columns in the order in which engines show them: the column that partitions
// is the last.
func (t *table) all() []behaviour.Field {
	if t.partition == nil {
		return t.columns
	}
	return append(t.columns[:len(t.columns):len(t.columns)], *t.partition)
}

func (t *table) spark() string {
	partitioned, repair := "", ""
	if t.partition != nil {
		partitioned = "PARTITIONED BY (" + t.quote(t.partition.Name) + ")\n"
		repair = "MSCK REPAIR TABLE " + t.name + ";\n"
	}
	return "CREATE TABLE " + t.name + " (\n" + t.define(t.all(), t.typed) + "\n)\nUSING parquet\n" + partitioned + "LOCATION " + t.text(t.url()) + ";\n" + repair
}

func (t *table) hive() string {
	partitioned, repair := "", ""
	if t.partition != nil {
		partitioned = "PARTITIONED BY (" + t.quote(t.partition.Name) + " " + t.typed(*t.partition) + ")\n"
		repair = "MSCK REPAIR TABLE " + t.name + ";\n"
	}
	return "CREATE EXTERNAL TABLE " + t.name + " (\n" + t.define(t.columns, t.typed) + "\n)\n" + partitioned + "STORED AS PARQUET\nLOCATION " + t.text(t.url()) + ";\n" + repair
}

// trino is the SQL for Trino's Hive connector. It reads microseconds only if its property
// timestamp-precision is MICROSECONDS.
func (t *table) trino() string {
	out := "-- The catalog of Trino needs hive.timestamp-precision=MICROSECONDS.\n"
	with := []string{"  format = 'PARQUET'", "  external_location = " + t.text(t.url())}
	if t.partition != nil {
		with = append(with, "  partitioned_by = ARRAY["+t.text(t.partition.Name)+"]")
	}
	out += "CREATE TABLE " + t.name + " (\n" + t.define(t.all(), t.typed) + "\n)\nWITH (\n" + strings.Join(with, ",\n") + "\n);\n"
	if t.partition != nil {
		catalog, schema, last := "", "default", len(t.names)-1
		if last > 0 {
			schema = t.names[last-1]
		}
		if last > 1 {
			catalog = t.quote(t.names[0]) + "."
		}
		out += "CALL " + catalog + "system.sync_partition_metadata(" + t.text(schema) + ", " + t.text(t.names[last]) + ", 'FULL');\n"
	}
	return out
}

// duckDB makes a view, because DuckDB has no tables over files. A result without files is a
// view without rows.
func (t *table) duckDB() string {
	var nothing []string
	for _, c := range t.all() {
		nothing = append(nothing, "  CAST(NULL AS "+t.typed(c)+") AS "+t.quote(c.Name))
	}
	if t.empty {
		return "CREATE VIEW " + t.name + " AS SELECT\n" + strings.Join(nothing, ",\n") + "\nWHERE false;\n"
	}
	how := ", hive_partitioning = false"
	if t.partition != nil {
		how = ", hive_partitioning = true, hive_types = {" + t.text(t.partition.Name) + ": " + t.typed(*t.partition) + "}"
	}
	return "CREATE VIEW " + t.name + " AS SELECT\n" + t.listed(t.all()) + "\nFROM read_parquet(" + t.text(t.files()) + how + ");\n"
}

// nullable reports whether a column may have nulls. In a row for each user the times may; in a
// row for each event, the fields of behaviours and the times of steps.
func (t *table) nullable(c behaviour.Field) bool {
	if t.wide {
		return c.Type == behaviour.Timestamp || c.Type == localTime
	}
	return !slices.Contains(behaviour.Reserved, c.Name)
}

// clickHouse makes a view of a result that is partitioned by behaviour, because ClickHouse does not decode
// the names of directories, such as behaviour=Course%20viewed.
func (t *table) clickHouse() string {
	typed := func(c behaviour.Field) string {
		if t.nullable(c) {
			return "Nullable(" + t.typed(c) + ")"
		}
		return t.typed(c)
	}
	columns, files, hdfs := t.define(t.all(), typed), t.text(t.files()), dfs.Scheme(t.dir) != ""
	if t.partition != nil && t.partition.Type == behaviour.String {
		function, name := "file", t.quote(t.partition.Name)
		if hdfs {
			function = "hdfs"
		}
		return "CREATE VIEW " + t.name + " AS SELECT\n" + t.listed(t.columns) + ",\n  decodeURLComponent(" + name + ") AS " + name + "\nFROM " + function + "(" + files + ", 'Parquet', " + t.text(columns) + ");\n"
	}
	engine := "File(Parquet, " + files + ")"
	if hdfs {
		engine = "HDFS(" + files + ", 'Parquet')"
	}
	return "CREATE TABLE " + t.name + " (\n" + columns + "\n)\nENGINE = " + engine + ";\n"
}
