package bulkload

// A Mode is the way in which cells get into the table.
type Mode string

// The modes.
const (
	Auto  Mode = "auto"  // the mode that the table accepts; if it accepts both, by size
	HFile Mode = "hfile" // as sorted files, which appear all at once
	Put   Mode = "put"   // one by one, straight from the workers
)

// A Choice is the way to load cells into the table, and the reason for it.
type Choice struct {
	Mode Mode   `json:"mode,omitempty"`
	Why  string `json:"why,omitempty"` // empty where there was nothing to choose
	// Estimates are for a live table, by mode.
	Estimates map[Mode]Estimate `json:"estimates,omitempty"`
}

// An Estimate is the approximate cost of a load.
type Estimate struct {
	Seconds float64 `json:"seconds"` // with the servers otherwise idle
	Staged  int64   `json:"staged"`  // bytes of HFiles on HBase's file system
	Written int64   `json:"written"` // bytes that the servers write, the log and compactions included
}
