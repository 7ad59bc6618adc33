package muster

// MinMemory is the least memory, in bytes, that a process keeps to that writes files.
const MinMemory = 64 << 20

// restMemory is the memory that sorting does not use: the program, chunks of files, and
// blocks of HFiles; in bytes.
const restMemory = 36 << 20

// SortMemory returns how much of a process's memory belongs to sorting or merging: three
// fifths, or less if the program does not fit next to that.
func SortMemory(memory int64) int64 {
	most := memory / 5 * 3
	if memory >= MinMemory {
		return min(most, memory-restMemory)
	}
	return most
}

// RowMemory returns what one of so many workers may take for the records of one row.
func RowMemory(memory int64, workers int) int64 { return memory / 16 / int64(workers) }

// Workers returns how many of so many workers have room at once: each holds blocks, and
// records that may be large.
func Workers(memory int64, workers int) int {
	const each = 16 << 20
	if memory < MinMemory {
		return workers
	}
	return int(min(int64(workers), memory/each))
}
