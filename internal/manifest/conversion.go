package manifest

// A Conversion is the plan of a table that is being made of another one in a new layout.
// It is written before the first file, and removed once the manifest is there.
type Conversion struct {
	Version int    `json:"version"`
	From    string `json:"from"`   // the address of the other table
	Source  string `json:"source"` // xxh64 of its manifest, in hex
	Layout  string `json:"layout"`
	Regions int    `json:"regions,omitempty"` // that were asked for; 0 is as many as there
	Splits  []Key  `json:"splits"`
}

func (c *Conversion) version() int { return c.Version }

// A Converted says what was made of those of the other table's files whose last rows one
// load brought.
type Converted struct {
	Version int    `json:"version"`
	Load    int    `json:"load"`
	Files   []File `json:"files"`
	// Loads tell of each load that brought some of it its days and regions, and nothing
	// besides. The regions are all of the new table.
	Loads []Load `json:"loads"`
}

func (c *Converted) version() int { return c.Version }
