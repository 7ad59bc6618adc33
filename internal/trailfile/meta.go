package trailfile

// Meta says what a finished file holds.
type Meta struct {
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Groups int    `json:"groups"`          // row groups
	First  string `json:"first,omitempty"` // user of the first row
	Last   string `json:"last,omitempty"`  // user of the last row
}
