package upkeep_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/precheck"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestDropOfEveryDayMustBeSaid expects an error for a date after all days.
func TestDropOfEveryDayMustBeSaid(t *testing.T) {
	h := newFixture(t, testworld.World(6, 2))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 2, []string{"trails"}, func(int) {})
	want := h.lasting(t, "trails")
	cfg, late := h.upkeep("trails"), h.w.Span.To+3000
	for _, do := range []func(context.Context, upkeep.Config, behaviour.Date) (upkeep.Dropped, error){upkeep.Drop, upkeep.WouldDrop} {
		if _, err := do(t.Context(), cfg, late); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "--all") {
			t.Errorf("a drop of every day: %v, want ErrRequest and --all", err)
		}
	}
	if got := h.lasting(t, "trails"); !maps.Equal(got, want) {
		t.Error("the table is not what it was")
	}
	cfg.All = true
	if d, err := upkeep.Drop(t.Context(), cfg, late); err != nil || d.Days == 0 {
		t.Errorf("%+v, %v; want that every day goes", d, err)
	}
}

// TestUndropBringsBackWhatWas drops days at a random moment, and restores them after more
// nights. Extracts then have the same results as extracts from a table without a drop.
func TestUndropBringsBackWhatWas(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3, 4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 9))
			h := newFixture(t, testworld.World(seed, 8))
			cfg := h.upkeep("kept")
			cfg.All = true
			nights := 4 + dice.IntN(4)
			at := dice.IntN(nights)
			h.nights(t, dice, nights, []string{"kept", "control"}, func(night int) {
				if night < at && dice.IntN(2) == 0 {
					if _, err := upkeep.Compact(t.Context(), cfg); err != nil && !errors.Is(err, upkeep.ErrNothing) {
						t.Fatal(err)
					}
				}
				if night == at {
					if _, err := upkeep.Drop(t.Context(), cfg, h.w.Span.From+1+behaviour.Date(dice.IntN(h.w.Span.Days()))); err != nil {
						t.Fatal(err)
					}
				}
				h.Verified(t, fmt.Sprint("after night ", night), "kept")
			})
			back, err := upkeep.Undrop(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			h.Verified(t, "brought back", "kept")
			h.load(t, "kept") // records that the load skipped
			h.Verified(t, "in the end", "kept")
			h.sameRolls(t, "in the end", "kept", "control", behaviour.MinDate)
			h.sameResults(t, "in the end", "kept", "control", behaviour.MinDate)
			if _, err := upkeep.Undrop(t.Context(), cfg); !errors.Is(err, upkeep.ErrNothing) {
				t.Errorf("again: %v, want nothing to do", err)
			}
			t.Logf("%d events came back", back.Behaviours)
		})
	}
}

// TestUndropOfTheLastDrop expects an earlier drop to stay.
func TestUndropOfTheLastDrop(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 3, []string{"trails"}, func(int) {})
	if _, err := upkeep.Undrop(t.Context(), h.upkeep("trails")); !errors.Is(err, upkeep.ErrNothing) {
		t.Errorf("without a drop: %v, want nothing to do", err)
	}
	cfg := h.upkeep("trails")
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()-1); err != nil {
		t.Fatal(err)
	}
	want := h.copied(t, "trails", "want")
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()+1); err != nil {
		t.Fatal(err)
	}
	if _, err := upkeep.Undrop(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	h.Verified(t, "brought back", "trails")
	h.sameRolls(t, "brought back", "trails", want, behaviour.MinDate)
	if got := h.Opened(t, "trails").Manifest().DroppedBefore; got == nil || *got != h.half()-1 {
		t.Errorf("the days before %v are dropped, want those before %s", got, h.half()-1)
	}
	if _, err := upkeep.Undrop(t.Context(), cfg); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "can no longer be undone") {
		t.Errorf("the earlier one: %v, want ErrRequest and why", err)
	}
}

// TestUndropComesTooLate expects an error if the files of the drop were removed.
func TestUndropComesTooLate(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 3, []string{"trails"}, func(int) {})
	cfg := h.upkeep("trails")
	cfg.KeepFor = 0
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()); err != nil {
		t.Fatal(err)
	}
	want := h.lasting(t, "trails")
	if _, err := upkeep.Undrop(t.Context(), cfg); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "new table") {
		t.Errorf("%v, want ErrRequest and what to do", err)
	}
	if got := h.lasting(t, "trails"); !maps.Equal(got, want) {
		t.Error("the table is not what it was")
	}
}

// TestUndropOfNoDays undoes a drop of days that had no records, so no file was removed.
func TestUndropOfNoDays(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 2, []string{"trails"}, func(int) {})
	cfg := h.upkeep("trails")
	if _, err := upkeep.Drop(t.Context(), cfg, h.w.Span.From-9); err != nil {
		t.Fatal(err)
	}
	if _, err := upkeep.Undrop(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if got := h.Opened(t, "trails").Manifest().DroppedBefore; got != nil {
		t.Errorf("the days before %s are dropped still", got)
	}
}

// TestUndropReadsBeforeItWrites expects a ledger that cannot be read to stop the command before
// it changes the table.
func TestUndropReadsBeforeItWrites(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 2, []string{"trails"}, func(int) {})
	cfg := h.upkeep("trails")
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()); err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(h.Store("trails").Dir, "loads", "000001.json")
	b, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	testkit.WriteFile(t, ledger, string(b))
	want := h.lasting(t, "trails")
	if _, err := upkeep.Undrop(t.Context(), cfg); err == nil {
		t.Error("the ledger was not read")
	}
	if got := h.lasting(t, "trails"); !maps.Equal(got, want) {
		t.Error("the table is not what it was")
	}
}

// TestUndropRefusesDamagedFiles damages each file that the last drop retired, one after the
// other.
func TestUndropRefusesDamagedFiles(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 2, []string{"trails"}, func(int) {})
	cfg := h.upkeep("trails")
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()); err != nil {
		t.Fatal(err)
	}
	u, err := h.Opened(t, "trails").Undrop(t.Context())
	if err != nil || u == nil {
		t.Fatalf("%v, %v; want files that can be brought back", u, err)
	}
	good := h.lasting(t, "trails")
	for _, f := range u.Files {
		for _, name := range f.Names() {
			text := good[name]
			path := filepath.Join(h.Store("trails").Dir, name)
			flipped := []byte(text)
			flipped[len(flipped)/2] ^= 1
			for what, b := range map[string][]byte{"a byte is another": flipped, "cut": []byte(text[:len(text)-1]), "longer": []byte(text + "x"), "empty": {}, "gone": nil} {
				testkit.WriteFile(t, path, string(b))
				if b == nil {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				}
				harmed := h.lasting(t, "trails")
				if _, err := upkeep.Undrop(t.Context(), cfg); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "put the file back") {
					t.Errorf("%s, %s: %v, want that the table is damaged, and what to do", name, what, err)
				}
				if !maps.Equal(h.lasting(t, "trails"), harmed) {
					t.Errorf("%s, %s: the table was changed", name, what)
				}
			}
			if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o755)); err != nil {
				t.Fatal(err)
			}
			if _, err := upkeep.Undrop(t.Context(), cfg); exit.Of(err) != exit.Failed || !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s is a directory: %v, want that the table is damaged", name, err)
			}
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			if _, err := upkeep.Undrop(t.Context(), cfg); exit.Of(err) != exit.Failed || !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), name) || !strings.HasSuffix(err.Error(), ": put the file back from a copy of the table") {
				t.Errorf("%s is a pipe: %v, want that the table is damaged, and what to do", name, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			testkit.WriteFile(t, path, text)
		}
	}
	if _, err := upkeep.Undrop(t.Context(), cfg); err != nil {
		t.Errorf("with all files as they were: %v", err)
	}
}

// TestUndropAfterAKilledCompact stops a compact that keeps nothing before it removes what it replaced.
// The days that were dropped before come back, and the table is whole.
func TestUndropAfterAKilledCompact(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 3, []string{"trails"}, func(int) {})
	cfg := h.upkeep("trails")
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()); err != nil {
		t.Fatal(err)
	}
	opened := h.Opened(t, "trails")
	m := *opened.Manifest()
	m.Files = slices.Clone(m.Files)
	m.Rewritten++
	i := slices.IndexFunc(m.Files, func(f manifest.File) bool { return strings.HasPrefix(f.Name, "d/0") })
	if i < 0 {
		t.Fatal("the drop rewrote all files")
	}
	f := &m.Files[i]
	for _, name := range []*string{&f.Name, &f.Roll} {
		was := filepath.Join(opened.Dir(), *name)
		*name = fmt.Sprintf("d/r%06d-0000%s", m.Rewritten, filepath.Ext(was))
		if err := os.Link(was, filepath.Join(opened.Dir(), *name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := opened.Replace(t.Context(), &m, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := upkeep.Undrop(t.Context(), cfg); err != nil {
		t.Error(err)
	}
	h.Verified(t, "brought back", "trails")
}

// TestWithoutItsListNothingIsRemoved removes the list of retired files. No command then removes the files
// of the dropped days, and Undrop restores them when the list exists again.
func TestWithoutItsListNothingIsRemoved(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 2, []string{"trails"}, func(int) {})
	cfg := h.upkeep("trails")
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(h.Store("trails").Dir, "retired.json")
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	before := h.lasting(t, "trails")
	attempts := map[string]func() error{
		"undrop":  func() error { _, err := upkeep.Undrop(t.Context(), cfg); return err },
		"compact": func() error { _, err := upkeep.Compact(t.Context(), cfg); return err },
		"load":    func() error { _, err := h.tryLoad(t.Context(), "trails"); return err },
	}
	for what, attempt := range attempts {
		if err := attempt(); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "retired.json: it is missing") {
			t.Errorf("%s without the list: %v, want ErrDamaged and the name of the list", what, err)
		}
		if !maps.Equal(h.lasting(t, "trails"), before) {
			t.Errorf("%s changed the table", what)
		}
	}
	testkit.WriteFile(t, list, string(text))
	if _, err := upkeep.Undrop(t.Context(), cfg); err != nil {
		t.Errorf("with its list: %v", err)
	}
	h.Verified(t, "brought back", "trails")
}

// TestADropAfterARebuildWithoutBase makes the manifest again from the ledgers, after two drops, and drops the same days.
// The list of retired files has a file that the first drop wrote.
func TestADropAfterARebuildWithoutBase(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 3, []string{"trails"}, func(int) {})
	cfg := h.upkeep("trails")
	cfg.KeepFor = time.Hour
	drop := func(before behaviour.Date) {
		t.Helper()
		if _, err := upkeep.Drop(t.Context(), cfg, before); err != nil {
			t.Fatal(err)
		}
	}
	drop(h.half() - 1)
	drop(h.half() + 1)
	want := h.copied(t, "trails", "want")
	dir := h.Store("trails").Dir
	for _, name := range []string{"manifest.json", "base"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := catalog.Rebuild(t.Context(), cfg.FS, dir, true); err != nil {
		t.Fatal(err)
	}
	h.Verified(t, "rebuilt", "trails")
	drop(h.half() - 1)
	drop(h.half() + 1)
	h.Verified(t, "dropped again", "trails")
	h.sameRolls(t, "dropped again", "trails", want, behaviour.MinDate)
	if _, err := upkeep.Undrop(t.Context(), cfg); err != nil {
		t.Error(err)
	}
}

// TestUndropSurvivesAnyFault is TestUpkeepSurvivesAnyFault for Undrop.
func TestUndropSurvivesAnyFault(t *testing.T) {
	h := newFixture(t, testworld.World(5, 2))
	h.Job.Table.Regions = 2
	h.nights(t, rand.New(rand.NewPCG(5, 5)), 3, []string{"before"}, func(int) {})
	if _, err := upkeep.Drop(t.Context(), h.upkeep("before"), h.half()); err != nil {
		t.Fatal(err)
	}
	undrop := func(ctx context.Context, c upkeep.Config) error {
		_, err := upkeep.Undrop(ctx, c)
		return err
	}
	after := h.copied(t, "before", "after")
	if err := undrop(t.Context(), h.upkeep(after)); err != nil {
		t.Fatal(err)
	}
	want := h.lasting(t, after)
	dfstest.Sweep(t, dfstest.Modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		return h.withFault(t, undrop, h.copied(t, "before", "trails"), n, mode, want)
	})
}

// A fullDisk has room for so many bytes. It has no room for an HFile or a roll until an HFile
// is removed.
type fullDisk struct {
	dfs.FS
	dfs.Surveyor
	room        int64
	freed, made bool
}

func (f *fullDisk) Room(context.Context, string) (dfs.Room, error) {
	if f.freed {
		return dfs.Room{Bytes: 1 << 40}, nil
	}
	return dfs.Room{Bytes: f.room, Limit: "the disk"}, nil
}

func (f *fullDisk) Remove(ctx context.Context, name string) error {
	f.freed = f.freed || strings.HasSuffix(name, ".hfile")
	return f.FS.Remove(ctx, name)
}

func (f *fullDisk) Create(ctx context.Context, name string) (dfs.Pending, error) {
	f.made = f.made || !f.freed && !strings.HasSuffix(name, ".json")
	return f.FS.Create(ctx, name)
}

func (f *fullDisk) CreateNew(ctx context.Context, name string) (dfs.Pending, error) {
	f.made = f.made || !f.freed && !strings.HasSuffix(name, ".json")
	return f.FS.CreateNew(ctx, name)
}

// TestDropOnAFullDisk drops days without KeepFor. Days whose files are removed whole need no
// more space than a manifest.
func TestDropOnAFullDisk(t *testing.T) {
	h := plain(t, "reversed", 3)
	h.night(t, 0, 1, 10)
	first := h.w.Span.From + 1
	before := first + 1
	h.Deliver(t, testworld.File{Name: first.String() + "/play.csv", Text: []byte("user_id,time,title,seconds\n1," + first.String() + " 10:00:00,one,1\n")})
	h.night(t, 2, 1, 10) // with the night before it
	control := h.upkeep(h.copied(t, "table", "control"))
	if _, err := upkeep.Drop(t.Context(), control, before); err != nil {
		t.Fatal(err)
	}
	manifest := int64(len(h.lasting(t, "table")["manifest.json"]))
	disk := &fullDisk{FS: h.FS, Surveyor: h.FS.(dfs.Surveyor), room: 2 * manifest} // retired.json needs space too
	full := *h
	full.FS = disk
	cfg := full.upkeep("table")
	_, err := upkeep.Drop(t.Context(), cfg, before)
	if !errors.Is(err, precheck.ErrNoRoom) || !strings.Contains(err.Error(), "--keep-for 0s") || !strings.Contains(err.Error(), "--before "+first.String()) {
		t.Errorf("a drop that keeps files: %v, want no room and both flags", err)
	}
	cfg.KeepFor, disk.room = 0, manifest
	if _, err := upkeep.Drop(t.Context(), cfg, before); err != nil {
		t.Fatal(err)
	}
	if disk.made {
		t.Error("files were made before room was")
	}
	h.Verified(t, "dropped", "table")
	h.sameRolls(t, "dropped", "table", "control", before)
}

// TestDropAndUndropReserveRoom expects nothing to change if there is no space for a manifest.
func TestDropAndUndropReserveRoom(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 2, []string{"trails"}, func(int) {})
	disk := &fullDisk{FS: h.FS, Surveyor: h.FS.(dfs.Surveyor)}
	full := *h
	full.FS = disk
	refused := func(what string, do func() error) {
		t.Helper()
		all := h.lasting(t, "trails")
		disk.room = 2*int64(len(all["manifest.json"])) - 1
		disk.freed = false
		if err := do(); !errors.Is(err, precheck.ErrNoRoom) || !strings.Contains(err.Error(), " needed: ") {
			t.Errorf("%s: %v, want that there is too little space, and how much is needed", what, err)
		}
		if !maps.Equal(h.lasting(t, "trails"), all) {
			t.Errorf("%s: the table was changed", what)
		}
	}
	all := full.upkeep("trails")
	all.All = true
	refused("drop of whole files", func() error {
		_, err := upkeep.Drop(t.Context(), all, h.w.Span.To+30)
		return err
	})
	refused("drop", func() error {
		_, err := upkeep.Drop(t.Context(), full.upkeep("trails"), h.half())
		return err
	})
	if _, err := upkeep.Drop(t.Context(), h.upkeep("trails"), h.half()); err != nil {
		t.Fatal(err)
	}
	refused("undrop", func() error {
		_, err := upkeep.Undrop(t.Context(), full.upkeep("trails"))
		return err
	})
	disk.room = 0
	none := full.upkeep("trails")
	none.KeepFor = 0
	if _, err := upkeep.Undrop(t.Context(), none); !errors.Is(err, precheck.ErrNoRoom) {
		t.Errorf("undrop that keeps nothing: %v, want that there is too little space", err)
	}
	if _, err := upkeep.Undrop(t.Context(), h.upkeep("trails")); err != nil {
		t.Errorf("undrop after that: %v", err)
	}
}

// closedBase is a file system of a table whose base this user may not write.
type closedBase struct{ dfs.FS }

func (closedBase) denied(op, name string) error {
	if dfs.Base(name) == "base" || dfs.Base(dfs.Dir(name)) == "base" {
		return &iofs.PathError{Op: op, Path: name, Err: iofs.ErrPermission}
	}
	return nil
}

func (c closedBase) Create(ctx context.Context, name string) (dfs.Pending, error) {
	if err := c.denied("create", name); err != nil {
		return nil, err
	}
	return c.FS.Create(ctx, name)
}

func (c closedBase) Room(ctx context.Context, dir string) (dfs.Room, error) {
	return c.FS.(dfs.Surveyor).Room(ctx, dir)
}

func (c closedBase) Held(ctx context.Context, name string) (bool, string, error) {
	return c.FS.(dfs.Surveyor).Held(ctx, name)
}

func (c closedBase) Try(ctx context.Context, dir string) (time.Time, error) {
	if err := c.denied("survey", dir); err != nil {
		return time.Time{}, err
	}
	return c.FS.(dfs.Surveyor).Try(ctx, dir)
}

// TestABaseThatCannotBeWrittenStopsTheChange expects no new manifest if its copy could not be written after it.
func TestABaseThatCannotBeWrittenStopsTheChange(t *testing.T) {
	h := newFixture(t, testworld.World(6, 4))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 2, []string{"trails"}, func(int) {})
	dropped := h.copied(t, "trails", "dropped")
	if _, err := upkeep.Drop(t.Context(), h.upkeep(dropped), h.half()); err != nil {
		t.Fatal(err)
	}
	linked := h.copied(t, "trails", "linked")
	if err := os.Symlink("nowhere/base", dfs.Join(h.Store(linked).Dir, "base")); err != nil {
		t.Fatal(err)
	}
	closed := *h
	closed.FS = closedBase{h.FS}
	manifestOf := func(name string) string {
		text, err := dfs.ReadFile(t.Context(), h.FS, dfs.Join(h.Store(name).Dir, catalog.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for what, x := range map[string]struct {
		name, step string
		do         func() error
	}{
		"drop without the right": {"trails", "run as a user who may write there, or let the owner grant the right", func() error {
			_, err := upkeep.Drop(t.Context(), closed.upkeep("trails"), h.half())
			return err
		}},
		"compact without the right": {"trails", "run as a user who may write there, or let the owner grant the right", func() error {
			_, err := upkeep.Compact(t.Context(), closed.upkeep("trails"))
			return err
		}},
		"undrop without the right": {dropped, "run as a user who may write there, or let the owner grant the right", func() error {
			_, err := upkeep.Undrop(t.Context(), closed.upkeep(dropped))
			return err
		}},
		"drop with a link to nothing": {linked, "move it away and put the folder back from a copy of the table", func() error {
			_, err := upkeep.Drop(t.Context(), h.upkeep(linked), h.half())
			return err
		}},
	} {
		before := manifestOf(x.name)
		if err := x.do(); exit.Of(err) != exit.Usage || !strings.HasSuffix(err.Error(), x.step) {
			t.Errorf("%s: %v, want status 64 and %q", what, err, x.step)
		}
		if manifestOf(x.name) != before {
			t.Errorf("%s: the manifest was replaced", what)
		}
	}
}
