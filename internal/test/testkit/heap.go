package testkit

import "runtime"

// Heap returns the number of bytes of the heap in use, without garbage.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
