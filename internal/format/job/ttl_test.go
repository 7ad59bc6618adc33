package job

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const aDay = 24 * time.Hour

func TestATTLIsDaysOrHours(t *testing.T) {
	parse := func(ttl string) (*Job, error) {
		return Parse("job.yaml", []byte("logs: \"{date}\"\nbehaviours: {play: {id: 1}}\ntable: {path: t"+ttl+"}"))
	}
	for text, want := range map[string]time.Duration{
		"": 0, ", ttl: forever": 0, ", ttl: 0": 0, ", ttl: 400d": 400 * aDay, ", ttl: 36h": 36 * time.Hour, ", ttl: 24855d": 24855 * aDay,
	} {
		j, err := parse(text)
		if err != nil || j.Table.TTL != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"400", "1.5d", "-1d", "0d", "24856d", "999999d", "9999999d", "400 d", "d", "never"} {
		_, err := parse(", ttl: " + text)
		if !errors.Is(err, ErrJob) || !strings.Contains(err.Error(), "table.ttl: ") {
			t.Errorf("%s: %v, want that the key is wrong", text, err)
		}
	}
}

// TestALayoutSaysTheTTLWhereTheJobDoesNot uses layouts that keep rows for a year, and without
// a limit.
func TestALayoutSaysTheTTLWhereTheJobDoesNot(t *testing.T) {
	for _, c := range []struct {
		text    string
		ttl     time.Duration
		forever bool
	}{
		{"layout: hashed", 365 * aDay, false},
		{"layout: hashed\ntable: t", 365 * aDay, false},
		{"layout: hashed\ntable: {path: t}", 365 * aDay, false},
		{"layout: hashed\ntable: {path: t, ttl: 30d}", 30 * aDay, false},
		{"layout: hashed\ntable: {path: t, ttl: 0}", 0, true},
		{"layout: hashed\ntable: {path: t, ttl: forever}", 0, true},
		{"layout: tall", 0, false},
		{"layout: tall\ntable: {path: t, ttl: forever}", 0, true},
	} {
		j, err := Parse("job.yaml", []byte("logs: \"{date}\"\nbehaviours: {play: {id: 1}}\n"+c.text))
		if err != nil {
			t.Error(err)
		} else if j.Table.TTL != c.ttl || j.Table.Forever != c.forever {
			t.Errorf("%q: %s, forever %t; want %s, %t", c.text, j.Table.TTL, j.Table.Forever, c.ttl, c.forever)
		}
	}
}
