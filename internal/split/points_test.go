package split_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/split"
)

// TestPoints prints drawings of regions, because balance is easier to see than to compute.
// -rewrite writes the expected part, which must then be reviewed.
func TestPoints(t *testing.T) {
	datadriven.RunTest(t, "testdata/points", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "points":
			var n int
			d.ScanArgs(t, "regions", &n)
			samples := readSamples(t, d)
			return draw(split.Balanced(samples, n), samples)
		case "of":
			return places(readPoints(d), strings.Fields(d.Input))
		case "validate":
			if err := readPoints(d).Validate(); err != nil {
				return err.Error()
			}
			return "good"
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
}

func readSamples(t *testing.T, d *datadriven.TestData) []split.Sample {
	var out []split.Sample
	for line := range strings.Lines(d.Input) {
		var key string
		var weight int64
		if _, err := fmt.Sscan(line, &key, &weight); err != nil {
			d.Fatalf(t, "%q: %v", line, err)
		}
		out = append(out, split.Sample{Key: []byte(key), Weight: weight})
	}
	return out
}

func readPoints(d *datadriven.TestData) split.Points {
	var p split.Points
	arg, _ := d.Arg("points")
	for _, v := range arg.Vals {
		if v != "" {
			p = append(p, []byte(v))
		}
	}
	return p
}

// draw prints each region with a mark for each unit of weight in it.
func draw(p split.Points, samples []split.Sample) string {
	var out strings.Builder
	w := weights(p, samples)
	for i, r := range p.Regions() {
		out.WriteString(strings.TrimRight(r.String()+" "+strings.Repeat("#", int(w[i])), " ") + "\n")
	}
	return out.String()
}

func places(p split.Points, rows []string) string {
	var out strings.Builder
	for _, row := range rows {
		i := p.Of([]byte(row))
		fmt.Fprintf(&out, "%s: %d %s\n", row, i, p.Regions()[i])
	}
	return out.String()
}

// weights returns the weight of each region of p.
func weights(p split.Points, samples []split.Sample) []int64 {
	out := make([]int64, len(p)+1)
	for _, s := range samples {
		out[linear(p, s.Key)] += s.Weight
	}
	return out
}

// linear is Points.Of as a simple loop.
func linear(p split.Points, row []byte) int {
	i := 0
	for i < len(p) && bytes.Compare(row, p[i]) >= 0 {
		i++
	}
	return i
}
