package cli_test

import (
	"testing"

	"usertrail/cmd/internal/cli"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 records", 1: "1 record", 2: "2 records", 12000: "12,000 records"} {
		if got := cli.Count(n, "record"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
		if got := cli.Count(int64(n), "record"); got != want {
			t.Errorf("Count(int64(%d)) is %q, want %q", n, got, want)
		}
	}
}
