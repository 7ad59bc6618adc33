package extract

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
)

// A Format is how a part is written. It is the ending of the part's name.
type Format string

// The formats.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Arrow   Format = "arrow"
)

// What an answer can be.
var (
	Formats    = []Format{Parquet, CSV, JSONL, Arrow}
	Shapes     = []trailfile.Shape{trailfile.LongShape, trailfile.WideShape}
	Partitions = []string{trailfile.DateColumn, trailfile.BehaviourColumn}
)

// An Output is what an answer looks like. Zero fields take the defaults written
// beside them.
type Output struct {
	Format    Format          // Parquet
	Shape     trailfile.Shape // one row for each behaviour
	Partition string          // the column by which the answer is laid into directories, of Partitions; none
	Stream    io.Writer       // takes csv or jsonl instead of Config.Out; none
}

// check sets the defaults of empty fields. It reports values that are not valid, alone or together.
func (o Output) check() (Output, error) {
	if o.Format == "" {
		o.Format = Parquet
	}
	if o.Shape == "" {
		o.Shape = trailfile.LongShape
	}
	if err := oneOf("--format", o.Format, Formats); err != nil {
		return o, err
	}
	if err := oneOf("--shape", o.Shape, Shapes); err != nil {
		return o, err
	}
	if o.Partition != "" {
		if err := oneOf("--partition-by", o.Partition, Partitions); err != nil {
			return o, err
		}
	}
	switch {
	case o.Partition != "" && o.Shape == trailfile.WideShape:
		return o, fmt.Errorf("%w: --partition-by %s: with --shape wide a row is a user, of many dates and behaviours", ErrQuestion, o.Partition)
	case o.Stream != nil && o.Partition != "":
		return o, fmt.Errorf("%w: --partition-by %s: standard output has no directories; name one with --out", ErrQuestion, o.Partition)
	case o.Stream != nil && !o.text():
		return o, fmt.Errorf("%w: --out -: %s cannot be read from a pipe; say --format csv or --format jsonl", ErrQuestion, o.Format)
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
	return fmt.Errorf("%w: %s %q is none of %s", ErrQuestion, flag, v, strings.Join(names, ", "))
}

func (o *Output) text() bool { return o.Format == CSV || o.Format == JSONL }

// partName is the name of a part's files.
func (o *Output) partName(n int) string {
	if o.Stream != nil {
		return "standard output"
	}
	return fmt.Sprintf("part-%05d.%s", n, o.Format)
}

// A fileWriter writes one file after the other, of one schema.
type fileWriter interface {
	Write(b *trailfile.Batch) error
	Close() (trailfile.Meta, error)
	Reset(w io.Writer)
}

// newFile begins the first file. All files of a stream are one file, which has one header
// at its beginning.
func (o *Output) newFile(w io.Writer, s trailfile.Schema) (fileWriter, error) {
	switch o.Format {
	case CSV:
		return textfile.NewWriter(w, s, textfile.CSV, o.Stream == nil)
	case JSONL:
		return textfile.NewWriter(w, s, textfile.JSON, false)
	case Arrow:
		return arrowfile.NewWriter(w, s)
	}
	// A part is one row group, unless one of its users is very busy.
	return trailfile.NewWriter(w, s, trailfile.Options{GroupRows: partEvents * 3 / 2, GroupBytes: 2 * partBytes})
}

// shape settles which columns come out.
func (q *question) shape(o Output) (err error) {
	if q.output, err = o.check(); err != nil {
		return err
	}
	if q.output.Shape == trailfile.LongShape {
		q.schema = trailfile.Long(q.names(), q.stepCount(), q.columns())
		return q.checkSteps()
	}
	if len(q.asked.Fields) > 0 {
		return fmt.Errorf("%w: --fields: with --shape wide no field comes out", ErrQuestion)
	}
	for _, k := range q.kinds {
		clear(q.fields[k]) // nor is one read that no condition names
	}
	q.schema = trailfile.Wide(q.names(), q.stepCount())
	return nil
}

// checkSteps reports a field with the name of a step's column.
func (q *question) checkSteps() error {
	for i := range q.stepCount() {
		name := trailfile.StepColumn(i)
		if slices.ContainsFunc(q.columns(), func(f behaviour.Field) bool { return f.Name == name }) {
			return fmt.Errorf("%w: --sequence: the field %s is called as the column of step %d; leave it out with --fields", ErrQuestion, name, i+1)
		}
	}
	return nil
}

// stepCount is how many steps the sequence has; 0 if none is asked.
func (q *question) stepCount() int {
	if q.steps == nil {
		return 0
	}
	return len(q.steps.Steps())
}

// allColumns are the columns of the answer, the one that partitions it among them.
func (q *question) allColumns() []behaviour.Field {
	var out []behaviour.Field
	for _, c := range q.schema.Columns {
		out = append(out, behaviour.Field{Name: c.Name, Type: c.Type})
	}
	return out
}
