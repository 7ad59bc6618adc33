package outcome_test

import (
	"testing"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
)

// load is a result with some counts.
type load struct {
	Read   int64    `json:"read"`
	Failed []string `json:"failed,omitempty"`
	Out    string   `json:"-"`
}

func (l load) Counted() outcome.Counts {
	c := outcome.Counts{outcome.Read: float64(l.Read)}
	c.SetFailed(len(l.Failed))
	return c
}

func (l load) Made() string { return l.Out }

func TestSecondsHaveThreeDecimals(t *testing.T) {
	for millis, want := range map[int64]string{1695: `"seconds":1.695,`, 2764: `"seconds":2.764,`, 579: `"seconds":0.579,`, 3000: `"seconds":3,`} {
		d := time.Duration(millis)*time.Millisecond + 300*time.Microsecond
		b, err := (&outcome.Outcome{Result: outcome.None{}, Seconds: outcome.Seconds(d)}).Line()
		if err != nil || string(b) != "{"+want+`"status":0}` {
			t.Errorf("%s: %s, %v; want %s", d, b, err, want)
		}
	}
}

// TestAClockThatIsSetBackGivesNoNegativeSeconds covers a run of several command lines, which
// knows its beginning only by the wall clock.
func TestAClockThatIsSetBackGivesNoNegativeSeconds(t *testing.T) {
	if got := outcome.Seconds(-time.Hour); got != 0 {
		t.Errorf("%g seconds, want 0", got)
	}
}

func TestTheLastLineHasTheResultAndItsEnd(t *testing.T) {
	o := outcome.Outcome{Result: load{Read: 7, Failed: []string{"x"}}, Seconds: 1.5, Status: exit.TooBad, Error: "a < b"}
	want := `{"read":7,"failed":["x"],"seconds":1.5,"status":65,"error":"a < b"}`
	if b, err := o.Line(); err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

func TestAnOutcomeHasTheCountsOfItsResult(t *testing.T) {
	o := outcome.Outcome{Result: load{Read: 7, Out: "trails"}}
	c := o.Counts()
	if _, failed := c[outcome.Failed]; len(c) != 1 || c.Int(outcome.Read) != 7 || failed || o.Made() != "trails" {
		t.Errorf("counts %v, made %q", c, o.Made())
	}
	for _, o := range []outcome.Outcome{{}, {Result: outcome.None{}}} {
		if len(o.Counts()) != 0 || o.Made() != "" {
			t.Errorf("%v has counts %v and made %q", o, o.Counts(), o.Made())
		}
	}
}
