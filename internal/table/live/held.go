package live

import (
	"time"

	"usertrail/internal/hbase"
	"usertrail/internal/table"
)

// MaxInFlight is the most that Options.Client.InFlight may be.
const MaxInFlight = hbase.MaxInFlight

// Held is what calls for the table were held back.
func (t *Table) Held() table.Held { return t.store.Held() }

// Held is what calls for any table of the store were held back.
func (s *Store) Held() table.Held {
	h := s.client.Held()
	return table.Held{Busy: h.Busy, HeldBack: seconds(h.Back), Paced: seconds(h.Paced)}
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
