package cli

import (
	"testing"
	"time"
)

func TestSecondsHaveThreeDecimals(t *testing.T) {
	for millis, want := range map[int64]string{1695: `"seconds":1.695,`, 2764: `"seconds":2.764,`, 579: `"seconds":0.579,`, 3000: `"seconds":3,`} {
		d := time.Duration(millis)*time.Millisecond + 300*time.Microsecond
		b, err := marshal(lineEnd{Seconds: seconds(d)})
		if err != nil || string(b) != "{"+want+`"status":0}` {
			t.Errorf("%s: %s, %v; want %s", d, b, err, want)
		}
	}
}
