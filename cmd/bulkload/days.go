package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
)

// quiet is the minimum number of consecutive days without a load that are printed as one line.
const quiet = 4

// printDays prints a line for each day of a load of several days. If nothing was loaded on
// many consecutive days for the same reason, it prints one line for them.
func printDays(w io.Writer, days []bulkload.DayLine) {
	if len(days) == 0 {
		return
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "day\tfiles\tread\tloaded\tquarantined\tduplicate\tskipped\tmissing\t  ended")
	for len(days) > 0 {
		n := stretch(days)
		if n < quiet {
			n = 1
		}
		printDay(out, days[:n])
		days = days[n:]
	}
	out.Flush()
}

// stretch returns the number of days, from the first on, without a load for the same reason.
func stretch(days []bulkload.DayLine) int {
	n := 0
	for n < len(days) && days[n].Ended == days[0].Ended && idle(&days[n]) {
		n++
	}
	return n
}

// idle reports whether a load read no record of a day, and the day did not fail.
func idle(d *bulkload.DayLine) bool {
	return d.Ended == bulkload.DayEmpty || d.Ended == bulkload.DayAlready || d.Ended == bulkload.DayDropped && d.Read == 0
}

// printDay prints one line for one or more days.
func printDay(w io.Writer, days []bulkload.DayLine) {
	sum := days[0]
	for _, d := range days[1:] {
		sum.Files += d.Files
		sum.Missing += d.Missing
	}
	span, ended := behaviour.Span{From: days[0].Date, To: days[len(days)-1].Date}, string(sum.Ended)
	if n := len(days); n > 1 {
		ended += fmt.Sprintf(", %d days", n)
	}
	fmt.Fprintf(w, "%s\t%d", span, sum.Files)
	for _, v := range []int64{sum.Read, sum.Loaded, sum.Quarantined, sum.Duplicate, sum.Skipped, int64(sum.Missing)} {
		fmt.Fprintf(w, "\t%s", humanize.Comma(v))
	}
	fmt.Fprintf(w, "\t  %s\n", ended)
}
