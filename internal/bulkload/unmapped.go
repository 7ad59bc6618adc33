package bulkload

import (
	"fmt"
	"log/slog"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/format/job"
)

// The words for logs in whose path the text of {behaviour} names no behaviour of the job.
const (
	UnmappedText   = "logs are not read, because the text for {behaviour} in their path names no behaviour of the job"
	UnmappedAdvice = "if these logs are wanted, add their behaviours to the job, or give a behaviour the text as its path"
)

// DescribeUnmapped names the commonest texts of u with the number of their files, such as "export" (2 files).
func DescribeUnmapped(u *job.UnmappedFiles) string {
	var names []string
	for _, t := range u.List(Shown) {
		names = append(names, fmt.Sprintf("%q (%s)", t.Text, english.Plural(t.Files, "file", "")))
	}
	text := FewOf(names, u.Texts())
	if u.More {
		text += ", and perhaps more in folders that were not listed"
	}
	return text
}

// WarnUnmapped logs the texts of u.
func WarnUnmapped(log *slog.Logger, u *job.UnmappedFiles) {
	if !u.IsZero() {
		log.Warn(UnmappedText, "files", u.Files(), "texts", DescribeUnmapped(u), "example", u.List(1)[0].Example, "advice", UnmappedAdvice)
	}
}
