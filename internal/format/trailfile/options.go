package trailfile

import "fmt"

// A Codec is how pages are compressed.
type Codec string

// The codecs.
const (
	Zstd   Codec = "zstd"
	Snappy Codec = "snappy"
	None   Codec = "none"
)

// Options of a file. The zero value of each means its default.
type Options struct {
	Codec      Codec // Zstd, at its fastest level
	GroupRows  int   // rows of a row group; 131072
	GroupBytes int   // of the strings of a row group, at most; 64 MiB
	PageBytes  int   // of a data page before compression, about; 256 KiB
}

const (
	defaultGroupRows  = 128 << 10
	defaultGroupBytes = 64 << 20
	defaultPageBytes  = 256 << 10

	// A page's header says its bytes and values in 31 bits, and one value is
	// never cut: these leave room for lengths, levels and a page that does not
	// compress.
	maxGroupRows  = 1 << 24
	maxGroupBytes = 1 << 29
	maxValueBytes = 1 << 29
)

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
	if o.PageBytes < 0 {
		return o, fmt.Errorf("trailfile: pages of %d bytes", o.PageBytes)
	}
	return o, nil
}
