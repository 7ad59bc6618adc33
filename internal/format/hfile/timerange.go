package hfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"usertrail/internal/store/protofield"
)

// A timeRange is a range of cell times in ms, both ends included.
type timeRange struct{ from, to int64 }

// allTimes is the range of a file that does not record its times.
var allTimes = timeRange{math.MinInt64, math.MaxInt64}

// parseTimeRange reads the entry TIMERANGE of file info. Files for bulk loading store two
// numbers. Files that servers write store a protobuf message.
func parseTimeRange(b []byte) (timeRange, error) {
	msg, ok := bytes.CutPrefix(b, []byte(infoMagic))
	if !ok {
		if len(b) != 16 {
			return allTimes, fmt.Errorf("file info: time range of %d bytes", len(b))
		}
		return timeRange{int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))}, nil
	}
	t := allTimes
	for f, err := range protofield.All(msg) {
		if err != nil {
			return allTimes, fmt.Errorf("file info: time range: %w", err)
		}
		switch f.Num {
		case 1:
			t.from = int64(f.Number)
		case 2:
			t.to = int64(f.Number)
		}
	}
	return t, nil
}

// TimeRange returns the range of times that the file's cells can have according to file info,
// in ms, both ends included. A deletion of a column or family covers all times from 0 up to
// its own. If the file does not record its times, the range is all times.
func (r *Reader) TimeRange() (from, to int64) { return r.times.from, r.times.to }
