package job_test

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/format/job"
)

// TestFieldsDifferByMoreThanCase checks that field names differ in more than case, because
// readers that ignore case would read the wrong column of a result.
func TestFieldsDifferByMoreThanCase(t *testing.T) {
	const text = `
logs: {path: "logs/{date}/{behaviour}.csv"}
behaviours:
  play:
    id: 1
    fields: {ID: int64, Date: string, Price: double, seconds: int64}
  order: {id: 2, fields: {price: double, SECONDS: int64, Note: string}}
  visit: {id: 3, fields: {Price: double, Note: string, Behaviour_: string}}
`
	_, err := job.Parse("job.yaml", []byte(text))
	if !errors.Is(err, job.ErrJob) {
		t.Fatalf("%v, want ErrJob", err)
	}
	for _, want := range []string{
		"job.yaml:6:14: behaviours.play.fields.ID: every trail has a column id of its own, which differs only in case",
		"behaviours.play.fields.Date: every trail has a column date of its own",
		"behaviours.order.fields.price: it differs from the field Price only in case",
		"say column: price",
		"behaviours.order.fields.SECONDS: it differs from the field seconds only in case",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
	if n := strings.Count(err.Error(), "only in case"); n != 4 {
		t.Errorf("%v\ntells of %d fields, want 4", err, n)
	}
}
