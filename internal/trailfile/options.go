package trailfile

import "fmt"

// A Codec is how pages are compressed.
type Codec string

// The codecs. Zstd costs about a tenth more CPU than Snappy and saves a third
// of the bytes.
const (
	Zstd   Codec = "zstd"
	Snappy Codec = "snappy"
	None   Codec = "none"
)

// Options of a file. The zero value of each means its default.
type Options struct {
	Codec     Codec // Zstd, at its fastest level
	GroupRows int   // rows of a row group; 131072
	PageBytes int   // of a data page before compression, about; 256 KiB
}

const (
	defaultGroupRows = 128 << 10
	defaultPageBytes = 256 << 10

	// Offsets within a group are 32 bits wide, and a page's header counts its
	// values in 31.
	maxGroupRows = 1 << 24
)

// withDefaults fills in what is zero and reports what cannot be.
func (o Options) withDefaults() (Options, error) {
	if o.Codec == "" {
		o.Codec = Zstd
	}
	if o.GroupRows == 0 {
		o.GroupRows = defaultGroupRows
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
		return o, fmt.Errorf("trailfile: %d rows in a row group: want 1..%d", o.GroupRows, maxGroupRows)
	}
	if o.PageBytes < 0 {
		return o, fmt.Errorf("trailfile: pages of %d bytes", o.PageBytes)
	}
	return o, nil
}
