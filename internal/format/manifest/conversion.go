package manifest

// A Conversion is the plan of a table that is being made from another table in a new layout. It
// is written before the first file, and removed once the manifest exists.
type Conversion struct {
	Version int    `json:"version"`
	From    string `json:"from"`   // the address of the other table
	Source  string `json:"source"` // xxh64 of its manifest, in hex
	Layout  string `json:"layout"`
	Regions int    `json:"regions,omitempty"` // the requested number; 0 is as many as the other table has
	Splits  []Key  `json:"splits"`
}

func (c *Conversion) version() int { return c.Version }

// A Converted lists the files that were made from some files of the other table: the files
// whose last rows came from one load.
type Converted struct {
	Version int    `json:"version"`
	Load    int    `json:"load"`
	Files   []File `json:"files"`
	// Loads has an entry for each load that wrote some of the rows. An entry has only the
	// days and the regions of the load. The regions are the regions of the new table.
	Loads []Load `json:"loads"`
}

func (c *Converted) version() int { return c.Version }
