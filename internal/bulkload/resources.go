package bulkload

import (
	"cmp"
	"fmt"
	"log/slog"

	"github.com/dustin/go-humanize"

	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
)

// Resources are what a command works with. The comments give the defaults of zero fields.
type Resources struct {
	FS       dfs.FS
	Store    table.Store
	Workers  int    // 1
	Memory   int64  // of the process, in bytes; 1 GiB
	Temp     string // directory, on FS, for sorted runs
	Progress progress.Config
	Log      *slog.Logger // no log
}

// WithDefaults returns r with defaults in place of zero fields, and with no more workers than fit into the
// memory.
func (r Resources) WithDefaults() Resources {
	if r.Memory <= 0 {
		r.Memory = 1 << 30
	}
	r.Workers = segment.Workers(r.Memory, max(r.Workers, 1))
	r.Log = cmp.Or(r.Log, slog.New(slog.DiscardHandler))
	return r
}

// MinMemory is the smallest Resources.Memory in bytes that a process can keep to.
const MinMemory = segment.MinMemory

// Writers returns the number of regions that are written at the same time: one more than workers,
// because a writer also waits until its file is on stable storage.
func (r *Resources) Writers() int { return r.Workers + 1 }

// Fitting returns how many of the Writers fit into the memory if each needs some bytes more than usual. It is at least 1.
func (r *Resources) Fitting(bytes int64) int {
	return int(max(1, min(int64(r.Writers()), r.listMemory()/max(bytes, 1))))
}

// SortMemory returns the memory for sorting records in bytes.
func (r *Resources) SortMemory() int64 { return segment.SortMemory(r.Memory) }

// RowMemory returns the memory of a writer in bytes for the records of one row.
func (r *Resources) RowMemory() int64 { return segment.RowMemory(r.Memory, r.Writers()) }

// WindowShare divides Resources.Memory: the windows of the zstd files that are read at the same time take at most
// one WindowShare-th of it.
const WindowShare = 8

// Within returns j with the limits for the memory of a record and of a file's window. For each worker, another record
// is read ahead.
func (r *Resources) Within(j *job.Job) *job.Job {
	within := *j
	within.Format.Held = int(segment.RecordMemory(r.Memory, 2*r.Workers))
	within.Format.Columns = int(segment.RestMemory(r.Memory) / 4 / columnMemory / int64(max(r.Workers, 1)))
	within.Format.Window = min(max(r.Memory/WindowShare, record.MinWindow), record.MaxWindow)
	return &within
}

// Bytes of memory for each entry of the lists of a load.
const (
	fileMemory   = 3600 // a delivered file
	dayMemory    = 150  // a day of a behaviour
	columnMemory = 128  // a column of a header, for each worker
)

// fileMemory includes pathCopies copies of a path of usualPath bytes.
const (
	pathCopies = 3
	usualPath  = 200
)

// fixedMemory is the part of the rest of the memory, in bytes, that the program, blocks and chunks take.
const fixedMemory = 28 << 20

// leastDays is the number of days of behaviours that fit into any memory.
const leastDays = 16 << 10

// listMemory returns the memory in bytes for the lists of a load.
func (r *Resources) listMemory() int64 { return segment.RestMemory(r.Memory) - fixedMemory }

// FitFiles returns an error if a load of some delivered files needs more memory. paths is the size of their paths in bytes.
func (r *Resources) FitFiles(files int, paths int64) error {
	if files == 0 {
		return nil
	}
	each := fileMemory + max(0, pathCopies*(paths/int64(files)-usualPath))
	most := r.listMemory() / each
	if int64(files) <= most {
		return nil
	}
	return fmt.Errorf("%w: %s files would be loaded, and --memory %s is enough for %s: load fewer days at once, or raise --memory to %s",
		ErrRequest, humanize.Comma(int64(files)), humanize.IBytes(uint64(r.Memory)), humanize.Comma(most), r.enoughFor(int64(files)*each))
}

// enoughFor returns the text of a --memory with which lists of some bytes fit.
func (r *Resources) enoughFor(bytes int64) string {
	enough := Resources{Memory: max(r.Memory, MinMemory)}
	for enough.listMemory() < bytes {
		enough.Memory *= 2
	}
	return humanize.IBytes(uint64(enough.Memory))
}

// FitDays returns an error if the days of the behaviours in a batch of some delivered files need more memory.
func (r *Resources) FitDays(days, files int) error {
	most := max((r.listMemory()-int64(files)*fileMemory)/dayMemory, leastDays)
	if int64(days) <= most {
		return nil
	}
	return fmt.Errorf("%w: the records are of more than %s days, counted for each behaviour and for each log without a day in its path, and --memory %s is not enough for them: load fewer days at once, or raise --memory",
		ErrRequest, humanize.Comma(most), humanize.IBytes(uint64(r.Memory)))
}

// PutMemory returns the memory in bytes for cells that HBase has not confirmed.
func (r *Resources) PutMemory() int { return int(r.Memory / 16) }

// UserShare divides Resources.Memory: UserMemory is one UserShare-th of it.
const UserShare = 8

// UserMemory returns the memory of a writer in bytes for the records of one user that are compared with
// each other.
func (r *Resources) UserMemory() int64 { return r.Memory / UserShare }
