package trailfile_test

import (
	"testing"

	"usertrail/internal/format/trailfile"
)

func TestFoldersAreEscapedAsHiveDoes(t *testing.T) {
	for value, want := range map[string]string{
		"play": "behaviour=play", "播放_1": "behaviour=播放_1", "2014-09-01": "behaviour=2014-09-01", "Course viewed": "behaviour=Course%20viewed",
		"a/b": "behaviour=a%2Fb", "..": "behaviour=..", "%20": "behaviour=%2520", "k=v": "behaviour=k%3Dv", `"\'#:*?{}[]^+,`: "behaviour=%22%5C%27%23%3A%2A%3F%7B%7D%5B%5D%5E%2B%2C",
	} {
		got := trailfile.Folder("behaviour", value)
		if got != want {
			t.Errorf("the folder of %q is %s, want %s", value, got, want)
		}
		if column, back, ok := trailfile.CutFolder(got); column != "behaviour" || back != value || !ok {
			t.Errorf("%s is read as %s, %q, %v", got, column, back, ok)
		}
	}
	for _, name := range []string{"part-00000.parquet", "behaviour=%2"} {
		if column, value, ok := trailfile.CutFolder(name); ok {
			t.Errorf("%s is read as %s, %q", name, column, value)
		}
	}
}
