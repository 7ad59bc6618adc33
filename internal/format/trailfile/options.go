package trailfile

import "fmt"

// A Codec is the compression of pages.
type Codec string

// The codecs.
const (
	Zstd   Codec = "zstd"
	Snappy Codec = "snappy"
	None   Codec = "none"
)

// Options are the options of a file. A zero field means its default.
type Options struct {
	Codec      Codec // Zstd, at its fastest level
	GroupRows  int   // rows of a row group; 131072
	GroupBytes int   // most bytes of the strings in a row group; 64 MiB
	// GroupMemory is the approximate number of bytes of memory of a row group at which it ends; 256 MiB.
	GroupMemory int
	PageBytes   int // approximate bytes of a data page before compression; 256 KiB

	// Parts allows Break. The file then has no page indexes, and at most MaxPartGroups row
	// groups, so that the footer needs at most some tens of MiB of memory.
	Parts bool
}

// MaxPartGroups is the largest number of row groups of a file with Options.Parts.
const MaxPartGroups = 4096

const (
	defaultGroupRows   = 128 << 10
	defaultGroupBytes  = 64 << 20
	defaultGroupMemory = 256 << 20
	defaultPageBytes   = 256 << 10

	// A page's header stores its bytes and values in 31 bits, and a value is never divided.
	// These limits leave room for lengths, levels and a page that does not compress.
	maxGroupRows  = 1 << 24
	maxGroupBytes = 1 << 29
	maxValueBytes = 1 << 29
)

// groups returns the largest number of row groups.
func (o Options) groups() int {
	if o.Parts {
		return MaxPartGroups
	}
	return maxGroups
}

// withDefaults replaces zero values by defaults, and returns an error for impossible
// values.
func (o Options) withDefaults() (Options, error) {
	if o.Codec == "" {
		o.Codec = Zstd
	}
	if o.GroupRows == 0 {
		o.GroupRows = defaultGroupRows
	}
	if o.GroupBytes == 0 {
		o.GroupBytes = defaultGroupBytes
	}
	if o.GroupMemory == 0 {
		o.GroupMemory = defaultGroupMemory
	}
	if o.PageBytes == 0 {
		o.PageBytes = defaultPageBytes
	}
	switch o.Codec {
	case Zstd, Snappy, None:
	default:
		return o, fmt.Errorf("trailfile: codec %q: want %s, %s or %s", o.Codec, Zstd, Snappy, None)
	}
	if o.GroupRows < 0 || o.GroupRows > maxGroupRows {
		return o, fmt.Errorf("trailfile: row groups of %d rows: want 1..%d", o.GroupRows, maxGroupRows)
	}
	if o.GroupBytes < 0 || o.GroupBytes > maxGroupBytes {
		return o, fmt.Errorf("trailfile: row groups of %d bytes: want 1..%d", o.GroupBytes, maxGroupBytes)
	}
	if o.GroupMemory < 0 {
		return o, fmt.Errorf("trailfile: row groups of %d bytes of memory", o.GroupMemory)
	}
	if o.PageBytes < 0 {
		return o, fmt.Errorf("trailfile: pages of %d bytes", o.PageBytes)
	}
	return o, nil
}
