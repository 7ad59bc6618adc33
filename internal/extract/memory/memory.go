// Package memory divides the memory of an extract among the list of users, the workers, the
// trails of single users, and sorting.
//
// The list of users is held to the end. A worker needs workerMemory: for several batches that it
// reads, and for a part that it writes. It needs more for a result of very many columns. If the trail of a user is larger than a batch, it is held
// whole, one such trail at a time. A result in directories is sorted. If only rows show which users
// exist, and the rows of a user are not adjacent, each pass over the rows collects as many users as
// fit into half of the rest.
package memory

import (
	"cmp"
	"fmt"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/run/exit"
	"usertrail/internal/trail"
)

const (
	// Least is the smallest memory in bytes that a process can keep to.
	Least = 128 << 20
	// Usual is the memory of a process that names none, in bytes.
	Usual = 1 << 30
	// workerMemory is the memory of one worker in bytes. It was measured on parts of ten
	// columns: the resident set with two workers minus the resident set with one.
	workerMemory = 64 << 20
	// columnMemory is the memory of a worker in bytes for each column of the result beyond usualColumns, and fieldMemory is the
	// memory for each of these columns if most rows have a value.
	columnMemory = 4 << 10
	fieldMemory  = 12 << 10
	usualColumns = 100
	// restMemory is the resident set with one worker that reads from HBase by scans, minus
	// workerMemory and the list.
	restMemory = 40 << 20
	// minWalk is the smallest Shares.Walk.
	minWalk = 8 << 20
	// fullMemory is the memory of one worker without the trail of a user that is held whole.
	fullMemory = 96 << 20
)

// Sizes limit the pieces in which events are held. Zero fields take their defaults. The
// parts of a result depend on PartEvents, PartBytes, PartIDs and PartMemory, and on no other size.
type Sizes struct {
	PartEvents int64 // events in a part, about; 131,072
	PartBytes  int   // bytes of values in a part, about; 16 MiB
	PartIDs    int   // bytes of the IDs of users in a part, about; 8 MiB
	PartMemory int   // bytes of the events, values and references to values in a part, about; 26 MiB
	BatchBytes int   // largest trails of a batch of users; 8 MiB
	SortBytes  int64 // memory for sorting; 16 MiB
}

// Full returns s with its defaults.
func (s Sizes) Full() Sizes {
	return Sizes{
		PartEvents: cmp.Or(s.PartEvents, 128<<10), PartBytes: cmp.Or(s.PartBytes, 16<<20),
		PartIDs: cmp.Or(s.PartIDs, 8<<20), PartMemory: cmp.Or(s.PartMemory, 26<<20),
		BatchBytes: cmp.Or(s.BatchBytes, 8<<20), SortBytes: cmp.Or(s.SortBytes, 16<<20),
	}
}

// A Budget is the memory of a process, and its uses.
type Budget struct {
	Bytes   int64 // of the process; 1 GiB
	Users   *userlist.List
	Workers int   // the largest number of workers
	Sorts   bool  // the result is sorted into directories
	Columns int   // of the result
	Fields  int   // of a behaviour in the result, at most
	Sizes   Sizes // that Full returned
	// Distinct is the number of fields whose distinct values a condition counts. Such a field takes up
	// to 24 bytes for an event of a user. The trail of the user has at least 40 bytes for the event.
	Distinct int
}

// Shares are the parts of a budget.
type Shares struct {
	Workers int   // number of workers
	Batch   int   // bytes of the largest trails of a batch
	User    int   // bytes of the largest trail of one user
	Walk    int64 // bytes for users whose rows are not adjacent, if only rows show which users exist
	Sort    int64 // bytes for sorting the files of directories

	list     int64 // bytes of the list
	distinct int   // fields whose distinct values are counted
}

// ErrColumns is wrapped if the result has too many columns for the memory.
var ErrColumns = exit.New(exit.Usage, "too many columns")

// Divide divides a budget. It returns an error if no worker fits next to the list.
func (b Budget) Divide() (Shares, error) {
	b.Bytes = cmp.Or(b.Bytes, Usual)
	room := b.room()
	worker := workerMemory + int64(max(0, b.Columns-usualColumns)*columnMemory+max(0, b.Fields-usualColumns)*fieldMemory)
	if room >= workerMemory && room < worker {
		return Shares{}, fmt.Errorf("%w: a result of %d columns needs more memory: raise --memory to %s, or ask for fewer --types or --fields",
			ErrColumns, b.Columns, Mebibytes(b.Bytes-room+worker))
	}
	if room < workerMemory {
		return Shares{}, fmt.Errorf("%w: %d users do not fit in memory next to their trails: raise --memory to %s",
			userlist.ErrList, b.Users.Len(), Mebibytes(restMemory+workerMemory+b.Sizes.SortBytes+b.Users.Bytes()))
	}
	s := Shares{User: b.user(), Sort: b.sort(), list: b.Users.Bytes(), distinct: b.Distinct}
	s.Workers = max(1, min(b.Workers, int((room-int64(s.User))/worker)))
	s.Walk = max(minWalk, (room-int64(s.Workers)*worker)/2)
	s.Batch = min(b.Sizes.BatchBytes, int(b.Bytes-restMemory-b.Users.Bytes())/(32*s.Workers))
	return s, nil
}

// room returns the memory for workers in bytes.
func (b *Budget) room() int64 {
	room := b.Bytes - restMemory - b.Users.Bytes()
	if b.Sorts {
		room -= b.sort()
	}
	return room
}

// sort returns the memory in bytes for sorting the files of directories.
func (b *Budget) sort() int64 { return min(b.Sizes.SortBytes, b.Bytes/32) }

// user returns the largest trail of one user in bytes. The trail is held whole and must fit
// into memory with all other data. user is the inverse of least.
func (b *Budget) user() int {
	m := b.Bytes - b.Users.Bytes()
	more := int64(b.Distinct)
	return int(min((m-restMemory)/(4+more), (m-fullMemory)/(2+more), trail.MaxData))
}

// Needs returns the smallest memory of a process in bytes that holds a trail of so many bytes,
// next to the list of s.
func (s *Shares) Needs(trail int) int64 { return least(trail, s.distinct, s.list) }

// least returns the smallest memory in bytes for a trail and a list of so many bytes, and a number of
// fields whose distinct values are counted.
func least(trail, distinct int, list int64) int64 {
	t, more := int64(trail), int64(distinct)
	return list + max((4+more)*t+restMemory, (2+more)*t+fullMemory, Least)
}

// Mebibytes returns a number of bytes, rounded up, in the form that --memory reads.
func Mebibytes(n int64) string { return fmt.Sprintf("%dMiB", (n+1<<20-1)>>20) }
