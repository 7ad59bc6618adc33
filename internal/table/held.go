package table

// Held is how much less than it could have was asked of a live table, for its servers'
// sake.
type Held struct {
	Busy     int64   `json:"busy,omitempty"`      // how often a server came to have too much to do
	HeldBack float64 `json:"held_back,omitempty"` // seconds for which something waited for that
	Paced    float64 `json:"paced,omitempty"`     // seconds for which something waited for --max-rate
}

// HeldBy is what was held back by whoever uses t, a Table or a Store. Of a table of
// files it is nothing.
func HeldBy(t any) Held {
	if u, ok := t.(unrolled); ok {
		t = u.Table
	}
	if h, ok := t.(interface{ Held() Held }); ok {
		return h.Held()
	}
	return Held{}
}

// Add adds what was held back at another time.
func (h *Held) Add(o Held) {
	h.Busy += o.Busy
	h.HeldBack += o.HeldBack
	h.Paced += o.Paced
}
