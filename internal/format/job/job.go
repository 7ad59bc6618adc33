// Package job reads the YAML job file. It reads the file strictly, checks the whole file, and
// returns the schema of the behaviours, the format of the delivered lines, the places of the
// logs, and the table.
//
// It is the first step of both commands. No code changes a Job after that, so many goroutines
// may use a Job at once.
//
// The package guarantees:
//
//   - All mistakes in a file are reported at once, in the order of the file, each with line
//     and column. The message for a misspelt key has the right one. A mistake that follows
//     from another mistake is not reported again.
//   - A relative path in a job file is relative to the job file's folder, wherever the
//     command was started.
//   - Fields keep the order of the file; the fields of all behaviours are first. Kinds are in order of ID.
//   - Digest is the same for two files with the same meaning, whatever their comments, blanks
//     and order of keys.
//   - Find returns the same inputs in the same order for the same files, each file once.
//
// docs/reference/job.md describes every key.
package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
	_ "time/tzdata" // zones are the same on machines without a zone database

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
)

var (
	// ErrJob is wrapped by every error that reports a wrong job file. A retry does not help.
	ErrJob = exit.New(exit.Usage, "the job file is wrong")
	// ErrNoInput is wrapped if required input does not exist.
	ErrNoInput = exit.New(exit.NoInput, "input is not there")
)

// maxSize is the size of the largest job file that is read. A job of 1,024 behaviours with 16
// fields of its own each has about 450 KiB. The YAML parser's time grows with the square of the
// size.
const maxSize = 512 << 10

// A Job is a job file without errors.
type Job struct {
	Name     string // as given to Load or Parse
	Schema   *behaviour.Schema
	Format   record.Format
	Pattern  *Pattern // the paths of the logs
	Marker   *Marker  // the path of the files that mark a day's logs as complete; nil if the job has none
	Table    Table
	Kerberos Kerberos
	Layout   string // the name of a new table's key design in package layout
	MaxBad   Limit
	// MaxSkipped is how many records of a file may name no behaviour of the job. It has no effect
	// if SkipOthers is set.
	MaxSkipped Limit
	SkipOthers bool
	MinRecords int64       // minimum for each file; 0 sets no minimum
	Behaviours []Behaviour // for each of Schema.Kinds
}

// A Table names the destination of the behaviours and the settings of a new table.
type Table struct {
	Address     string // empty if the job has none
	Regions     int    // 0 lets the first load choose
	Compression string // none, snappy, gz, zstd or lz4
	Catalog     string // of a live table; empty if the job has none
	Family      string // of a live table; empty is its only one
	Root        string // HBase's root directory, for a live table; empty if the job has none

	// TTL is how long a new live table keeps a behaviour, counted from the behaviour's time. It
	// is the layout's default if the job has no ttl; 0 means no limit.
	TTL time.Duration
	// Forever is set if the ttl of the job is no limit. It is not set if the job has no ttl.
	Forever bool
	// Others is set if other programs also write rows into a live table.
	Others bool
}

// A Behaviour holds the settings of one kind that are not part of its schema or format.
type Behaviour struct {
	Required   bool   // a day without a file of it is an error
	MinRecords int64  // minimum for each file whose path names it; 0 sets no minimum
	Path       string // the text for {behaviour} in its files' paths
	Unique     Unique
}

// A Unique holds the columns whose combination must not repeat among the records of a kind. The
// zero Unique has none.
type Unique struct {
	User   bool
	Time   bool
	Fields []int // indexes in the kind's Fields, ascending
}

// Asked reports whether u has a column.
func (u Unique) Asked() bool { return u.User || u.Time || len(u.Fields) > 0 }

// A missingError is the error of a job file that does not exist. It wraps ErrJob.
type missingError struct {
	name  string
	cause error
}

func (e *missingError) Error() string {
	return fmt.Sprintf("job: there is no file %s: name the job file with --job or $USERTRAIL_JOB, or draft one with bulkload init", e.name)
}

// Unwrap returns ErrJob and the cause.
func (e *missingError) Unwrap() []error { return []error{ErrJob, e.cause} }

// An unreadableError is the error of a job file that the user may not read. It wraps ErrJob.
type unreadableError struct{ cause error }

func (e *unreadableError) Error() string {
	return fmt.Sprintf("job: the job file cannot be read: %v: run as a user who may read it, or name another job file with --job", e.cause)
}

// Unwrap returns ErrJob and the cause.
func (e *unreadableError) Unwrap() []error { return []error{ErrJob, e.cause} }

// Load reads the job file at name.
func Load(ctx context.Context, files dfs.FS, name string) (*Job, error) {
	data, err := read(ctx, files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingError{name, err}
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, &unreadableError{err}
	}
	if errors.Is(err, dfs.ErrScheme) {
		return nil, fmt.Errorf("%w: %w", ErrJob, err)
	}
	if err != nil {
		return nil, fmt.Errorf("job: read %s: %w", name, err)
	}
	return Parse(name, data)
}

func read(ctx context.Context, files dfs.FS, name string) ([]byte, error) {
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSize+1))
}

// Parse parses data, the text of the job file called name, and returns the job. It keeps no
// reference to data.
func Parse(name string, data []byte) (*Job, error) {
	doc := &document{name: name}
	b := builder{doc: doc, job: &Job{Name: name}}
	if root, ok := doc.parse(data); ok {
		b.build(root)
	}
	if err := doc.err(); err != nil {
		return nil, err
	}
	if err := b.job.Schema.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrJob, name, err)
	}
	return b.job, nil
}

// A builder makes a job of a document, part by part.
type builder struct {
	doc   *document
	job   *Job
	kinds []kind // in the order of the file, until arrange
	logs  object

	// shared are the fields that all behaviours have, and sharedColumns their columns.
	shared        []behaviour.Field
	sharedColumns []record.Column

	// names are the column names in the job; nil if a header names the columns.
	names []string
	// numbered is set if columns have only numbers and no names.
	numbered bool
	// noYear holds the times whose text has no year if the job has none.
	noYear []value
}

// A kind holds everything that a job has about one behaviour.
type kind struct {
	schema   behaviour.Kind
	record   record.Kind
	settings Behaviour
	required value // the key of Required
	least    value // the key of MinRecords
	other    value // the key of record.Format.Other
}

// build reads the parts in the order of their dependencies.
func (b *builder) build(root object) {
	b.job.MaxBad, b.job.MaxSkipped = DefaultMaxBad, DefaultMaxSkipped
	b.logs = b.logsObject(root)
	b.readFormat()
	b.readBehaviours(root)
	b.arrange()
	b.readKindColumn()
	b.readOther()
	b.readPattern()
	b.readMarker()
	l := root.get("layout").layout()
	b.job.Layout = l.Name()
	b.readTable(root.get("table"), l)
	b.readKerberos(root.get("kerberos"))
}

// arrange sorts the kinds by ID and adds them to the job.
func (b *builder) arrange() {
	slices.SortStableFunc(b.kinds, func(x, y kind) int { return int(x.schema.ID) - int(y.schema.ID) })
	f := &b.job.Format
	for _, k := range b.kinds {
		f.Schema.Kinds = append(f.Schema.Kinds, k.schema)
		f.Kinds = append(f.Kinds, k.record)
		b.job.Behaviours = append(b.job.Behaviours, k.settings)
	}
	b.job.Schema = f.Schema
}
