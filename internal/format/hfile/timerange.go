package hfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A timeRange is the times of cells, in ms, both ends included.
type timeRange struct{ from, to int64 }

// allTimes is the range of a file that says nothing of its times.
var allTimes = timeRange{math.MinInt64, math.MaxInt64}

// parseTimeRange reads the entry TIMERANGE of file info: two numbers, as in files for
// bulk loading, or a protobuf message, as in those that servers write.
func parseTimeRange(b []byte) (timeRange, error) {
	msg, ok := bytes.CutPrefix(b, []byte(infoMagic))
	if !ok {
		if len(b) != 16 {
			return allTimes, fmt.Errorf("file info: time range of %d bytes", len(b))
		}
		return timeRange{int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))}, nil
	}
	t := allTimes
	err := eachField(msg, func(num protowire.Number, _ []byte, v uint64) error {
		switch num {
		case 1:
			t.from = int64(v)
		case 2:
			t.to = int64(v)
		}
		return nil
	})
	if err != nil {
		return allTimes, fmt.Errorf("file info: time range: %w", err)
	}
	return t, nil
}

// TimeRange is the times that the file's cells can have, in ms, both ends included, as
// file info says. A deletion of a column or family has all times from 0 up to its own.
// A file that does not say can have all times.
func (r *Reader) TimeRange() (from, to int64) { return r.times.from, r.times.to }
