package job_test

import (
	"strings"
	"testing"

	"usertrail/internal/format/job"
)

// TestOtherBy compares jobs that differ in their null texts, or in the column of a field.
func TestOtherBy(t *testing.T) {
	by := func(format, nulls, column string) string {
		t.Helper()
		text := "logs: {path: '{date}/{behaviour}', format: " + format + ", nulls: " + nulls + "}\nbehaviours: {play: {id: 1, fields: {a: {column: " + column + "}}}}\n"
		if nulls == "" {
			text = strings.Replace(text, ", nulls: ", "", 1)
		}
		j, err := job.Parse("job.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return j.FieldBy("play", "a")
	}
	for what, c := range map[string]struct {
		format, then, now string
		want              bool
	}{
		"no texts":             {"csv", "", "", false},
		"a text is removed":    {"csv", "x", "", true},
		"a text is replaced":   {"csv", "x", "y", true},
		"one text is left":     {"csv", "[x, y]", "y", true},
		"a text is added":      {"csv", "", "x", false},
		"one more is added":    {"csv", "x", "[y, x]", false},
		"another order":        {"csv", "[x, y, x]", "[y, x]", false},
		"empty, null anyway":   {"csv", "['', x]", "x", false},
		"empty, null by nulls": {"jsonl", "['', x]", "x", true},
	} {
		then, now := by(c.format, c.then, "a"), by(c.format, c.now, "a")
		if got := job.OtherBy(then, now); got != c.want {
			t.Errorf("%s: %v of %s and %s, want %v", what, got, then, now, c.want)
		}
		if other := by(c.format, c.now, "b"); !job.OtherBy(then, other) {
			t.Errorf("%s: another column is the same as %s: %s", what, then, other)
		}
	}
	// The digest of a job without null texts is the digest in ledgers that were written before there were digests of null texts.
	if got := by("csv", "", "a"); len(got) != 16 || !strings.HasPrefix(by("csv", "x", "a"), got+"-") {
		t.Errorf("without null texts: %s, with one: %s", got, by("csv", "x", "a"))
	}
	if zone := by("csv", "", "a, type: timestamp, zone: UTC"); zone != by("csv", "", "a, type: timestamp") {
		t.Errorf("a zone changes from which text a field is read: %s", zone)
	}
}
