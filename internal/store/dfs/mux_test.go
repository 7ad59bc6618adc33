package dfs_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

// below is a file system whose names have a scheme, as far as the test needs it.
type below struct {
	dfs.FS
	scheme string
}

func (b below) cut(name string) string { return strings.TrimPrefix(name, b.scheme+"://") }

func (b below) Publish(ctx context.Context, from, to string) error {
	return b.FS.Publish(ctx, b.cut(from), b.cut(to))
}

func (b below) Create(ctx context.Context, name string) (dfs.Pending, error) {
	return b.FS.Create(ctx, b.cut(name))
}

func TestMuxConforms(t *testing.T) {
	dfstest.Run(t, func(t *testing.T) (dfs.FS, string) {
		return dfs.NewMux(map[string]dfs.FS{"": local.New()}), t.TempDir()
	})
}

func TestMuxChoosesByScheme(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	m := dfs.NewMux(map[string]dfs.FS{"": local.New(), "far": below{local.New(), "far"}})
	p, err := m.Create(ctx, "far://"+root+"/a")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	if _, err := io.WriteString(p, "far"); err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := m.Publish(ctx, "far://"+root+"/a", "far://"+root+"/b"); err != nil {
		t.Fatal(err)
	}
	if got := dfstest.Snapshot(t, m, root); len(got) != 1 || got["b"] != "far" {
		t.Errorf("there is %q, want b", got)
	}
}

func TestMuxSaysWhichSchemesThereAre(t *testing.T) {
	ctx := t.Context()
	m := dfs.NewMux(map[string]dfs.FS{"": local.New(), "hdfs": local.New()})
	const name = "s3://bucket/file"
	calls := map[string]error{
		"Mkdir":        m.Mkdir(ctx, name),
		"Publish from": m.Publish(ctx, name, "here"),
		"Publish to":   m.Publish(ctx, "here", name),
		"Remove":       m.Remove(ctx, name),
		"Sweep":        m.Sweep(ctx, name),
	}
	_, calls["Open"] = m.Open(ctx, name)
	_, calls["Create"] = m.Create(ctx, name)
	_, calls["Stat"] = m.Stat(ctx, name)
	_, calls["List"] = m.List(ctx, name)
	_, calls["Lock"] = m.Lock(ctx, name)
	const want = "dfs: s3://bucket/file: no file system of that scheme: known are local paths, hdfs://"
	for call, err := range calls {
		if !errors.Is(err, dfs.ErrScheme) || err.Error() != want {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
	if _, err := dfs.NewMux(nil).Open(ctx, "a"); !errors.Is(err, dfs.ErrScheme) {
		t.Errorf("an empty mux: %v", err)
	}
}

func TestMuxDoesNotPublishAcross(t *testing.T) {
	root := t.TempDir()
	m := dfs.NewMux(map[string]dfs.FS{"": local.New(), "hdfs": local.New()})
	err := m.Publish(t.Context(), root, "hdfs://nn/out")
	if !errors.Is(err, dfs.ErrCross) || !strings.Contains(err.Error(), "local paths and hdfs://") {
		t.Errorf("got %v, want dfs.ErrCross and from where to where", err)
	}
}
