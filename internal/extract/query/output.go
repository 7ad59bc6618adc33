package query

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"usertrail/internal/format/trailfile"
)

// A Format is the format of a part, and the ending of its name.
type Format string

// The formats.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Arrow   Format = "arrow"
)

// Times are the zones of the times in a result.
type Times string

// The zones.
const (
	UTC   Times = "utc"
	Local Times = "local" // UTC, and next to it the local time in the zone of the table
)

// The values of an Output.
var (
	Zones      = []Times{UTC, Local}
	Formats    = []Format{Parquet, CSV, JSONL, Arrow}
	Shapes     = []trailfile.Shape{trailfile.LongShape, trailfile.WideShape}
	Partitions = []string{trailfile.DateColumn, trailfile.BehaviourColumn}
)

// An Output is the form of a result. The comments give the defaults of zero fields.
type Output struct {
	Format    Format          // Parquet
	Shape     trailfile.Shape // one row for each event
	Partition string          // the column whose values are directories, of Partitions; none
	Times     Times           // UTC
	Excel     bool            // csv is written as Excel reads it; no
	Stream    io.Writer       // receives all parts as one file, instead of a directory; none
}

// check sets the defaults of empty fields. It reports values that are not valid, alone or together.
func (o Output) check() (Output, error) {
	if o.Format == "" {
		o.Format = Parquet
	}
	if o.Shape == "" {
		o.Shape = trailfile.LongShape
	}
	if o.Times == "" {
		o.Times = UTC
	}
	if err := oneOf("--format", o.Format, Formats); err != nil {
		return o, err
	}
	if err := oneOf("--shape", o.Shape, Shapes); err != nil {
		return o, err
	}
	if err := oneOf("--times", o.Times, Zones); err != nil {
		return o, err
	}
	if o.Partition != "" {
		if err := oneOf("--partition-by", o.Partition, Partitions); err != nil {
			return o, err
		}
	}
	switch {
	case o.Excel && o.Format != CSV:
		return o, fmt.Errorf("%w: --excel: Excel does not open %s: write --format csv", ErrWrong, o.Format)
	case o.Partition != "" && o.Shape == trailfile.WideShape:
		return o, fmt.Errorf("%w: --partition-by %s: with --shape wide a row is a user, of many dates and behaviours: leave out one of the two flags", ErrWrong, o.Partition)
	case o.Stream != nil && o.Partition != "":
		return o, fmt.Errorf("%w: --partition-by %s: standard output has no directories; name one with --out", ErrWrong, o.Partition)
	}
	return o, nil
}

// oneOf reports a value that a flag does not have.
func oneOf[T ~string](flag string, v T, all []T) error {
	if slices.Contains(all, v) {
		return nil
	}
	var names []string
	for _, one := range all {
		names = append(names, string(one))
	}
	return fmt.Errorf("%w: %s %q is none of %s", ErrWrong, flag, v, strings.Join(names, ", "))
}

// maxFolder is the maximum size of a folder's name in bytes, on local disks and on HDFS.
const maxFolder = 255

// hiveNull is the folder of null in Hive's form.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// checkFolders reports a behaviour that cannot have a folder.
func (q *Query) checkFolders() error {
	if q.Output.Partition != trailfile.BehaviourColumn {
		return nil
	}
	for _, name := range q.Names() {
		n := len(trailfile.Folder(q.Output.Partition, name))
		switch {
		case name == hiveNull:
			return fmt.Errorf("%w: --partition-by behaviour: readers take a folder of %s for null: partition by date", ErrWrong, name)
		case n > maxFolder:
			return fmt.Errorf("%w: --partition-by behaviour: the name of the folder of %s would have %d bytes, and file systems allow %d: partition by date", ErrWrong, name, n, maxFolder)
		}
	}
	return nil
}

// PartName returns the name of the files of part n.
func (o *Output) PartName(n int) string {
	if o.Stream != nil {
		return "standard output"
	}
	return fmt.Sprintf("part-%05d.%s", n, o.Format)
}
