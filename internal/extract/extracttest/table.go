package extracttest

import (
	"context"
	"path/filepath"
	"testing"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testworld"
)

// unsure is a table whose rolls name behaviours that are gone.
type unsure struct{ table.Table }

func (t unsure) Info() table.Info {
	info := t.Table.Info()
	info.Sealed = false
	return info
}

func (t unsure) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	users, err := t.Table.Users(ctx, r, span)
	return unsureUsers{users}, err
}

type unsureUsers struct{ table.Users }

func (u unsureUsers) User() table.User {
	user := u.Users.User()
	user.Did.Add(len(user.Key) % 4)
	user.Sure = false
	return user
}

// Narrow is a table in which reading few columns is cheaper, as in HBase.
type Narrow struct{ *files.Table }

// Info implements table.Table.
func (n Narrow) Info() table.Info {
	info := n.Table.Info()
	info.Narrow = true
	return info
}

// Cost runs an extract. It returns the result, and the cost in the manifest.
func Cost(t *testing.T, c extract.Config) (extract.Result, manifest.Cost) {
	t.Helper()
	r, err := extract.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m := new(manifest.Extract)
	if err := manifest.Read(t.Context(), c.FS, filepath.Join(c.Out, place.ManifestName), m); err != nil {
		t.Fatal(err)
	}
	if m.Cost == nil {
		t.Fatal("the manifest has no cost")
	}
	return r, *m.Cost
}

// Laid loads a world into a table of each layout, and calls yield with the layout and the turn of its
// table.
func Laid(t *testing.T, w *testworld.W, h *Fixture, yield func(name string, u Turn)) {
	t.Helper()
	for _, name := range layout.Names() {
		h.Job.Layout = name
		u := Turn{Name: name, Workers: 2, Memory: 64 << 20}
		h.Load(t, u, w.Span)
		yield(name, u)
	}
}
