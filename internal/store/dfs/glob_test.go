package dfs_test

import (
	"errors"
	"path"
	"slices"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

func globWorld(t *testing.T) string {
	root := t.TempDir()
	for _, name := range []string{
		"logs/2014-09-01/play.csv", "logs/2014-09-01/order.csv", "logs/2014-09-01/_SUCCESS", "logs/2014-09-01/.part.crc",
		"logs/2014-09-02/play.csv.gz", "logs/2014-09-02/deep/play.csv",
		"logs/_temporary/0/play.csv",
		"logs/play.csv", "logs/[odd].csv", "节目/播放 1.csv",
	} {
		p, err := local.New().Create(t.Context(), dfs.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestGlob(t *testing.T) {
	root := globWorld(t)
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{"logs/2014-09-01/play.csv", []string{"logs/2014-09-01/play.csv"}},
		{"logs/*/play.csv*", []string{"logs/2014-09-01/play.csv", "logs/2014-09-02/play.csv.gz"}},
		{"logs/*/*", []string{"logs/2014-09-01/order.csv", "logs/2014-09-01/play.csv", "logs/2014-09-02/play.csv.gz"}},
		{"logs//*/*/play.csv", []string{"logs/2014-09-02/deep/play.csv"}},
		{"logs/2014-09-0[2-9]/*", []string{"logs/2014-09-02/play.csv.gz"}},
		{"logs/_*/*/play.csv", []string{"logs/_temporary/0/play.csv"}},
		{"logs/_temporary/0/*", []string{"logs/_temporary/0/play.csv"}},
		{"logs/2014-09-01/_*", []string{"logs/2014-09-01/_SUCCESS"}},
		{"logs/2014-09-01/.p*", []string{"logs/2014-09-01/.part.crc"}},
		{"logs/p*", []string{"logs/play.csv"}},
		{`logs/\[odd].csv`, []string{"logs/[odd].csv"}},
		{"*/?? 1.csv", []string{"节目/播放 1.csv"}},
		{"logs", nil},
		{"logs/2014-09-01", nil},
		{"logs/2014-09-03/*", nil},
		{"logs/play.csv/*", nil},
		{"logs/play.csv/below", nil},
		{"nothing/at/all", nil},
		{"", nil},
	} {
		infos, err := dfs.Glob(t.Context(), local.New(), root+"/"+c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		}
		var got []string
		for _, in := range infos {
			got = append(got, in.Name[len(root)+1:])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s gives %q, want %q", c.pattern, got, c.want)
		}
	}
}

func TestGlobOfRelativeNames(t *testing.T) {
	t.Chdir(globWorld(t))
	for pattern, want := range map[string]string{
		"*/play.csv":     "logs/play.csv",
		"logs/p*.csv":    "logs/play.csv",
		"./logs/p*.csv":  "./logs/play.csv",
		"logs/play.csv":  "logs/play.csv",
		"logs/play.csv/": "logs/play.csv",
	} {
		infos, err := dfs.Glob(t.Context(), local.New(), pattern)
		if err != nil || len(infos) != 1 || infos[0].Name != want {
			t.Errorf("%s gives %+v, %v; want %s", pattern, infos, err, want)
		}
	}
}

func TestGlobSaysWhatIsWrong(t *testing.T) {
	root := globWorld(t)
	if _, err := dfs.Glob(t.Context(), local.New(), root+"/logs/[a"); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("a bad pattern: %v, want path.ErrBadPattern", err)
	}
	for n := range 2 {
		faulty := dfstest.FaultAt(local.New(), n)
		if _, err := dfs.Glob(t.Context(), faulty, root+"/logs/*/play.csv"); !errors.Is(err, dfstest.ErrInjected) {
			t.Errorf("fault at %d: %v, want ErrInjected", n, err)
		}
	}
}
