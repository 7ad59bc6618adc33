package job

const (
	// defaultCompression is fast to write and to read; zstd makes files a third
	// smaller for twice the time of a load.
	defaultCompression = "snappy"

	maxRegions = 100_000 // far more than HBase serves well
)

var compressions = []string{"none", "snappy", "gz", "zstd", "lz4"}

// readTable reads the table's address alone, or with how it is made.
func (b *builder) readTable(v value) {
	b.job.Table.Compression = defaultCompression
	address := v
	if v.isObject() {
		o, _ := v.object(tableLevel)
		address = o.get("path")
		if !address.given() {
			address.wrong("missing: where the table lies")
		}
		b.job.Table.Regions, _ = o.get("regions").whole(1, maxRegions)
		if s, ok := o.get("catalog").word(); ok {
			b.job.Table.Catalog = resolve(b.doc.folder(), s)
		}
		if s, ok := o.get("root").word(); ok {
			b.job.Table.Root = resolve(b.doc.folder(), s)
		}
		b.job.Table.Family, _ = o.get("family").word()
		if s, ok := o.get("compression").oneOf("compression", compressions); ok {
			b.job.Table.Compression = s
		}
	}
	if s, ok := address.word(); ok {
		b.job.Table.Address = resolve(b.doc.folder(), s)
	}
}
