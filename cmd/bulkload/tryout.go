package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/tryout"
	"usertrail/internal/run/quantity"
	"usertrail/internal/run/visible"
)

// maxSampled is the maximum number of behaviours of a sample that are printed.
const maxSampled = 100

// printSample prints the report of a sample: a line for each behaviour, and below it two lines for each
// reason of bad and skipped records.
func printSample(w io.Writer, r *tryout.Report) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "sampled     %s of %s, %s of text; %s parsed whole\n",
		quantity.Of(r.Records, "record"), english.Plural(r.Files, "file", ""), humanize.IBytes(uint64(r.Bytes)), english.Plural(r.Whole, "file", ""))
	for _, b := range r.Beginnings {
		fmt.Fprintf(w, "            %s parsed from the beginning only: %s\n", english.Plural(int(b.Count), "file", ""), b.Text)
	}
	for i, b := range r.Behaviours {
		if i == maxSampled {
			fmt.Fprintf(w, "            … and %s\n", english.Plural(len(r.Behaviours)-i, "more behaviour", ""))
			break
		}
		printTried(w, &b)
	}
	var texts []string
	for _, t := range r.Unknown {
		texts = append(texts, fmt.Sprintf("%q (%s)", t.Text, humanize.Comma(t.Count)))
	}
	if len(texts) > 0 {
		fmt.Fprintf(w, "unmapped    %s\n", strings.Join(texts, ", "))
	}
}

// printTried prints a behaviour of a sample.
func printTried(w io.Writer, b *tryout.Behaviour) {
	// Records of no known behaviour have no verdict and no share of their own. They count in the files of the behaviours.
	name, share, verdict := "(no known behaviour)", "", ""
	if b.Name != "" {
		name, share, verdict = visible.Text(b.Name), badShare(b), ": "+verdictOf(b)
	}
	fmt.Fprintf(w, "%-11s %s: %s good, %s bad%s, %s skipped%s\n",
		name, quantity.Of(b.Records, "record"), humanize.Comma(b.Good), humanize.Comma(b.Bad), share, humanize.Comma(b.Skipped), verdict)
	printNoValue(w, b)
	for _, r := range b.Reasons {
		kind := "skipped"
		if r.Bad {
			kind = "bad"
		}
		line := fmt.Sprintf("%s %s: %s, the first at %s", humanize.Comma(r.Records), kind, r.Reason, visible.Text(r.Place()))
		if r.Detail != "" {
			line += ": " + visible.Text(r.Detail)
		}
		if key := tryout.Key(r.Reason); r.Bad && key != "" {
			line += "; in the job: " + key
		}
		fmt.Fprintf(w, "            %s\n", line)
		if r.Text != "" {
			fmt.Fprintf(w, "              %s\n", visible.Text(r.Text))
		}
	}
}

// printNoValue prints the fields of which no good record of a behaviour has a value.
func printNoValue(w io.Writer, b *tryout.Behaviour) {
	if len(b.NoValue) > 0 {
		fmt.Fprintf(w, "            no good record has a value of %s\n", visible.Text(bulkload.Few(b.NoValue)))
	}
}

// badShare returns the percentage of a behaviour's records that are bad, and the limit.
func badShare(b *tryout.Behaviour) string {
	if b.Bad == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.3g%%, max_bad of a file is %s)", 100*float64(b.Bad)/float64(b.Records), b.MaxBad)
}

// verdictOf returns the verdict on a behaviour. If the verdict is not the verdict of all its files, it has the number of
// these files.
func verdictOf(b *tryout.Behaviour) string {
	if b.Worst == 0 || b.Worst == b.Files {
		return string(b.Verdict)
	}
	return fmt.Sprintf("%s in %s of %s", b.Verdict, humanize.Comma(int64(b.Worst)), quantity.Of(b.Files, "file"))
}
