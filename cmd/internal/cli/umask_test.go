package cli

import (
	"errors"
	"testing"
)

func TestNewFilesAreNotForEverybody(t *testing.T) {
	for _, c := range []struct {
		began int
		says  string
		want  int
		err   error
	}{
		{0o022, "", 0o027, nil},
		{0o002, "", 0o027, nil},
		{0o077, "", 0o077, nil},
		{0o022, "022", 0o022, nil},
		{0o022, "0", 0, nil},
		{0o022, "9", 0o027, ErrUsage},
		{0o022, "1000", 0o027, ErrUsage},
	} {
		t.Setenv(umaskVariable, c.says)
		if got, err := umask(c.began); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%03o, %q: %03o, %v; want %03o, %v", c.began, c.says, got, err, c.want, c.err)
		}
	}
}
