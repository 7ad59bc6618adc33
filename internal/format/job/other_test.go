package job_test

import (
	"strings"
	"testing"

	"usertrail/internal/format/job"
)

// TestDigestOfAnEarlierJobWithOther checks that a job with other: true has the digest of an earlier job
// only if no text left the behaviour with other: true since then.
func TestDigestOfAnEarlierJobWithOther(t *testing.T) {
	read := func(text string) *job.Job {
		t.Helper()
		j, err := job.Parse("job.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	const plain = "logs: {path: x, behaviour: event}\nbehaviours:\n  play: {id: 1}\n"
	const other = plain + "  rest: {id: 2, other: true}\n"
	if got := read(other).Other(); got != "rest" {
		t.Errorf("other texts are %q, want rest", got)
	}
	if read(other).Digest() == read(strings.Replace(other, ", other: true", ", fields: {text: {column: event}}", 1)).Digest() {
		t.Error("other: true does not change the digest")
	}
	for _, c := range []struct {
		earlier, now string
		fields       map[string][]string
		texts        []string
		want         bool
	}{
		{other, other, map[string][]string{"play": {}, "rest": {"text"}}, []string{"play", "rest"}, true},
		{plain, other, map[string][]string{"play": {}}, []string{"play"}, true},
		{other, other + "  login: {id: 3}\n", map[string][]string{"play": {}, "rest": {"text"}}, []string{"play", "rest"}, false},
	} {
		got, ok := read(c.now).DigestOf(c.fields, c.texts)
		if is := ok && got == read(c.earlier).Digest(); is != c.want {
			t.Errorf("the digest of\n%s\nfrom\n%s\nis right: %v, want %v", c.earlier, c.now, is, c.want)
		}
	}
}
