package job

import (
	"regexp"
	"strconv"
	"time"

	"usertrail/internal/format/layout"
)

const (
	// defaultCompression is fast to write and to read. With zstd, files are a third smaller,
	// and the load takes twice as long.
	defaultCompression = "snappy"

	maxRegions = 100_000 // far more than HBase serves well

	// maxTTL is the longest lifetime below HBase's value for no limit, which is 2^31-1
	// seconds.
	maxTTL = (1<<31 - 2) * time.Second
)

var compressions = []string{"none", "snappy", "gz", "zstd", "lz4"}

// readTable reads the table, which is its address alone, or its address and settings. If the
// job has no value, the value of l applies.
func (b *builder) readTable(v value, l layout.Layout) {
	b.job.Table.Compression = defaultCompression
	b.job.Table.TTL = l.Traits().TTL
	address := v
	if v.isObject() {
		o, _ := v.object(tableLevel)
		address = o.get("path")
		if !address.given() {
			address.wrong("missing: the path or address of the table")
		}
		b.job.Table.Regions, _ = o.get("regions").whole(1, maxRegions)
		if s, ok := o.get("catalog").word(); ok {
			b.job.Table.Catalog = resolve(b.doc.folder(), s)
		}
		if s, ok := o.get("root").word(); ok {
			b.job.Table.Root = resolve(b.doc.folder(), s)
		}
		b.job.Table.Family, _ = o.get("family").word()
		if ttl, ok := o.get("ttl").ttl(); ok {
			b.job.Table.TTL, b.job.Table.Forever = ttl, ttl == 0
		}
		b.job.Table.Others, _ = o.get("others").truth()
		if s, ok := o.get("compression").oneOf("compression", compressions); ok {
			b.job.Table.Compression = s
		}
	}
	if s, ok := address.word(); ok {
		b.job.Table.Address = resolve(b.doc.folder(), s)
	}
}

// ttlText matches a number of days or hours.
var ttlText = regexp.MustCompile(`^([0-9]{1,6})([dh])$`)

// ttl reads the lifetime of behaviours, counted from their own time. 0 means no limit.
func (v value) ttl() (time.Duration, bool) {
	s, ok := v.word()
	if !ok {
		return 0, false
	}
	if s == "forever" || s == "0" {
		return 0, true
	}
	m := ttlText.FindStringSubmatch(s)
	if m == nil {
		v.wrong("%q is no time such as 400d or 36h, nor forever", s)
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	unit := time.Hour
	if m[2] == "d" {
		unit *= 24
	}
	if err != nil || n == 0 || time.Duration(n) > maxTTL/unit {
		v.wrong("%s is not in 1h..%dd", s, maxTTL/(24*time.Hour))
		return 0, false
	}
	return time.Duration(n) * unit, true
}
