package segment

import "usertrail/internal/format/record"

// MinMemory is the smallest memory limit, in bytes, that a process which writes segments
// keeps to.
const MinMemory = 64 << 20

// restMemory is the memory, in bytes, that is not for sorting: the program, chunks of files
// and blocks of HFiles.
const restMemory = 46 << 20

// SortMemory returns the memory for sorting or merging, in bytes. memory is the limit of the
// process. The result is three fifths of it, or less if the rest of the program needs more
// than two fifths.
func SortMemory(memory int64) int64 {
	most := memory / 5 * 3
	if memory >= MinMemory {
		return min(most, memory-restMemory)
	}
	return most
}

// RestMemory returns the memory, in bytes, that is not for sorting or merging. A process that keeps to less memory than MinMemory
// has the rest of MinMemory.
func RestMemory(memory int64) int64 {
	memory = max(memory, MinMemory)
	return memory - SortMemory(memory)
}

// RowMemory returns the memory, in bytes, that each worker may use for the records of one row.
func RowMemory(memory int64, workers int) int64 { return memory / 16 / int64(workers) }

// RecordMemory returns the size, in bytes, of the largest record that each worker may hold. With any
// memory, it allows the records of a job without max_line.
func RecordMemory(memory int64, workers int) int64 {
	return max(RowMemory(memory, workers), record.DefaultMaxLine)
}

// Workers returns how many of the workers fit into memory. Each worker holds blocks, and
// records that can be large.
func Workers(memory int64, workers int) int {
	const each = 16 << 20
	if memory < MinMemory {
		return workers
	}
	return int(min(int64(workers), memory/each))
}
