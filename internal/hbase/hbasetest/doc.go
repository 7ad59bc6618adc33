// Package hbasetest is a small HBase in memory, for faults that a real one cannot
// be made to show on demand.
package hbasetest
