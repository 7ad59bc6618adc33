package live

import (
	"time"

	"usertrail/internal/store/hbase"
	"usertrail/internal/table"
)

// MaxInFlight is the largest valid Options.Client.InFlight.
const MaxInFlight = hbase.MaxInFlight

// Held returns how much calls for the table waited.
func (t *Table) Held() table.Held { return t.store.Held() }

// Held returns how much calls for all tables of the store waited.
func (s *Store) Held() table.Held {
	h := s.client.Held()
	return table.Held{Busy: h.Busy, HeldBack: seconds(h.Back), Paced: seconds(h.Paced)}
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
