package job

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestATTLIsDaysOrHours(t *testing.T) {
	parse := func(ttl string) (*Job, error) {
		return Parse("job.yaml", []byte("logs: \"{date}\"\nbehaviours: {play: {id: 1}}\ntable: {path: t"+ttl+"}"))
	}
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"": 0, ", ttl: forever": 0, ", ttl: 400d": 400 * day, ", ttl: 36h": 36 * time.Hour, ", ttl: 24855d": 24855 * day,
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
