package samplelog

// A clock sets the times of a file's records. They ascend through the day, except that the
// lines of one server may be some seconds later than the lines of another.
type clock struct {
	records int64
	until   [len(hours) + 1]float64 // share of the day's records before each hour
}

// disorder is the largest number of seconds by which a line is too late in its file.
const disorder = 20

func newClock(records int64) clock {
	c := clock{records: records}
	sum := 0
	for h, busy := range hours {
		sum += busy
		c.until[h+1] = float64(sum)
	}
	for h := range c.until {
		c.until[h] /= float64(sum)
	}
	return c
}

// at returns the second of the day of record i.
func (c *clock) at(i int64, d *source) int {
	share := (float64(i) + d.unit()) / float64(c.records)
	h := 0
	for h < len(hours)-1 && c.until[h+1] <= share {
		h++
	}
	within := (share - c.until[h]) / (c.until[h+1] - c.until[h])
	second := h*3600 + int(within*3600) - d.below(disorder)
	return min(max(second, 0), daySeconds-1)
}
