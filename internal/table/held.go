package table

// Held counts how often and how long requests to a live table waited to protect its servers.
type Held struct {
	Busy     int64   `json:"busy,omitempty"`      // how often a server came to have too much to do
	HeldBack float64 `json:"held_back,omitempty"` // seconds for which something waited for that
	Paced    float64 `json:"paced,omitempty"`     // seconds for which something waited for --max-rate
}

// HeldBy returns the waits of requests to t. It returns zero for a table of files.
func HeldBy(t Table) Held {
	if h, ok := As[Throttled](t); ok {
		return h.Held()
	}
	return Held{}
}

// StoreHeld returns the waits of requests to all tables of s.
func StoreHeld(s Store) Held {
	if h, ok := s.(Throttled); ok {
		return h.Held()
	}
	return Held{}
}

// Add adds o to h.
func (h *Held) Add(o Held) {
	h.Busy += o.Busy
	h.HeldBack += o.HeldBack
	h.Paced += o.Paced
}
