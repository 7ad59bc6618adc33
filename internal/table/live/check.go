package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/precheck"
)

// oneRegion is the size of text in bytes from which one region is too few. The first load into a
// table of files makes regions of this size.
const oneRegion = 256 << 20

// A Candidate is a table in HBase that may have errors or be missing. Check reports all errors.
// Every other method returns the first error.
type Candidate struct {
	*Store
	wrong error // nil if nothing is wrong
}

// Look is Connect for callers that report all errors of a table at once. It returns an error
// only if the address or Hadoop's configuration is wrong.
func Look(ctx context.Context, fs dfs.FS, address string, o Options) (*Candidate, error) {
	s, err := Connect(ctx, fs, address, o)
	if err == nil {
		return &Candidate{Store: s}, nil
	}
	if errors.Is(err, ErrAddress) || errors.Is(err, context.Canceled) {
		return nil, err
	}
	a, fail := ParseAddress(address, o.Conf)
	if fail != nil {
		return nil, fail
	}
	s = &Store{fs: fs, address: a, home: func() (string, error) { return a.home(o) }}
	if s.find("", o) != nil {
		s.dir = "" // the error of find is not reported now: err comes first
	}
	return &Candidate{Store: s, wrong: err}, nil
}

// Lock implements table.Store.
func (c *Candidate) Lock(ctx context.Context) (dfs.Lock, error) {
	if c.wrong != nil {
		return nil, c.wrong
	}
	return c.Store.Lock(ctx)
}

// Open implements table.Store.
func (c *Candidate) Open(ctx context.Context) (table.Loader, error) {
	if c.wrong != nil {
		return nil, c.wrong
	}
	return c.Store.Open(ctx)
}

// New implements table.Store.
func (c *Candidate) New(ctx context.Context, p table.Plan) (table.Loader, error) {
	if c.wrong != nil {
		return nil, c.wrong
	}
	return c.Store.New(ctx, p)
}

// Close implements table.Store.
func (c *Candidate) Close() error {
	if c.wrong != nil {
		return nil
	}
	return c.Store.Close()
}

// Check implements precheck.Checker.
func (c *Candidate) Check(ctx context.Context, load precheck.Load) []precheck.Check {
	if c.wrong == nil {
		return c.Store.Check(ctx, load)
	}
	var l precheck.List
	reason := "the table is not there, or cannot be reached"
	switch {
	case errors.Is(c.wrong, hbase.ErrNoFamily):
		reason = "nothing tells the family"
		l.OK(precheck.TableThere, "%s is there and enabled", c.address)
		l.Fail(precheck.FamilyThere, c.wrong, "")
	default:
		l.Fail(precheck.TableThere, c.wrong, "")
		l.Skip(precheck.FamilyThere, "%s", reason)
	}
	l.Skips(reason, precheck.FamilyFit, precheck.Regions, precheck.Permissions, precheck.Versions)
	if c.dir == "" {
		l.Skips("nothing tells where the catalog is", precheck.UnfinishedRun, precheck.Clock)
	} else {
		c.checkClock(ctx, &l)
		l = append(l, catalog.CheckUnfinished(ctx, c.fs, c.dir, load.Locked))
	}
	c.checkRoom(ctx, &l, load)
	return l
}

// Check implements precheck.Checker. It runs all checks at once, because they mostly wait for
// servers.
func (s *Store) Check(ctx context.Context, load precheck.Load) []precheck.Check {
	checks := []func(*precheck.List){
		func(l *precheck.List) { s.checkTable(l, load) },
		func(l *precheck.List) { s.checkFamily(ctx, l, load) },
		func(l *precheck.List) { s.checkRegions(ctx, l, load) },
		func(l *precheck.List) { s.checkRights(ctx, l, load) },
		func(l *precheck.List) { s.checkRoom(ctx, l, load) },
		func(l *precheck.List) { s.checkVersion(ctx, l) },
		func(l *precheck.List) { s.checkClock(ctx, l) },
		func(l *precheck.List) { *l = append(*l, catalog.CheckUnfinished(ctx, s.fs, s.dir, load.Locked)) },
	}
	lists := make([]precheck.List, len(checks))
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() { check(&lists[i]) })
	}
	wg.Wait()
	return slices.Concat(lists...)
}

// checkTable checks whether the table accepts puts, if the load may need puts.
func (s *Store) checkTable(l *precheck.List, load precheck.Load) {
	const readOnly = "it is READONLY: HBase accepts no puts for it, only HFiles"
	switch {
	case !s.readOnly || !load.Puts:
		l.OK(precheck.TableThere, "%s is there and enabled, for user %s", s.address, s.client.User())
	case load.HFiles:
		l.Warn(precheck.TableThere, s.address.writable(), "%s", readOnly)
	default:
		l.Fail(precheck.TableThere, fmt.Errorf("table %s: %w: %s", s.address, table.ErrUnfit, readOnly), s.address.writable())
	}
}

// checkFamily checks the family's settings. HBase describes a table only to users who may
// alter it.
func (s *Store) checkFamily(ctx context.Context, l *precheck.List, load precheck.Load) {
	if s.schema == nil {
		reason := fmt.Sprintf("HBase does not describe the table to this user: %v", s.untold)
		l.Skip(precheck.FamilyThere, "%s", reason)
		if n := load.Traits.Versions; n > 1 {
			l.Warn(precheck.FamilyFit, fmt.Sprintf("ask a user who may alter it whether VERSIONS of family %s is %d or more: HBase drops older behaviours of a user otherwise", s.family, n), "%s", reason)
		} else {
			l.Skip(precheck.FamilyFit, "%s", reason)
		}
		return
	}
	l.OK(precheck.FamilyThere, "family %s", s.family)
	if err := s.tooFew(load); err != nil {
		l.Fail(precheck.FamilyFit, err, fmt.Sprintf("in HBase's shell: alter '%s', {NAME => '%s', VERSIONS => %d}", s.address.Table, s.family, load.Traits.Versions))
		return
	}
	note, err := s.checkFiles(ctx, load)
	if err != nil {
		l.Fail(precheck.FamilyFit, err, "")
		return
	}
	notes := append(familyNotes(s.schema, load), note...)
	if len(notes) > 0 {
		l.Warn(precheck.FamilyFit, fmt.Sprintf("in HBase's shell: alter '%s', {NAME => '%s', …}; bulkload create-table --print shows what fits", s.address.Table, s.family),
			"%s", strings.Join(notes, "; "))
		return
	}
	var says []string
	for _, key := range []string{versionsKey, bloomKey, encodingKey, compressionKey, blockSizeKey} {
		says = append(says, key+" "+setting(s.schema, key))
	}
	l.OK(precheck.FamilyFit, "%s", strings.Join(says, ", "))
}

// checkFiles checks whether HFiles can be written for the family. If not, it returns an error if
// the load can use only HFiles, otherwise a note.
func (s *Store) checkFiles(ctx context.Context, load precheck.Load) ([]string, error) {
	if !load.HFiles {
		return nil, nil
	}
	_, err := s.familyOptions(ctx)
	if err == nil || !load.Puts || !errors.Is(err, table.ErrUnfit) {
		return nil, err
	}
	if _, unstaged := s.stagingIn(); unstaged != nil {
		return nil, nil // staging-room reports it
	}
	return []string{fmt.Sprintf("it accepts no HFiles, only puts: %v", err)}, nil
}

// tooFew returns an error if the family keeps fewer versions than the layout needs: HBase drops
// the oldest versions beyond that number.
func (s *Store) tooFew(load precheck.Load) error {
	n, err := strconv.Atoi(setting(s.schema, versionsKey))
	if err != nil || n >= load.Traits.Versions {
		return nil
	}
	return fmt.Errorf("table %s: %w: VERSIONS of family %s is %d, and the layout needs %d: HBase would drop the older behaviours of a user",
		s.address, table.ErrUnfit, s.family, n, load.Traits.Versions)
}

// familyNotes lists the settings of a family that do not suit the load.
func familyNotes(f *wire.FamilySchema, load precheck.Load) []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if n, err := strconv.Atoi(setting(f, versionsKey)); err == nil && n > 1 && load.Traits.Versions <= 1 {
		note("VERSIONS is %d: a behaviour has one", n)
	}
	if n := f.Attributes["MIN_VERSIONS"]; n != "" && n != "0" {
		note("MIN_VERSIONS is %s: what a TTL should drop stays", n)
	}
	if keep := strings.ToUpper(f.Attributes[keepDeletedKey]); keep != "" && keep != "FALSE" {
		note("KEEP_DELETED_CELLS is %s: what is deleted stays on the disks, and an extract of early days reads the files of later days, too", keep)
	}
	if setting(f, bloomKey) == "NONE" {
		note("BLOOMFILTER is NONE: an extract looks for each user in every file")
	}
	if setting(f, encodingKey) == "NONE" {
		note("DATA_BLOCK_ENCODING is NONE: every cell repeats its key")
	}
	if setting(f, compressionKey) == "NONE" {
		note("COMPRESSION is NONE: the table takes several times the room")
	}
	return append(notes, ttlNotes(f, load)...)
}

func days(d time.Duration) string {
	if d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return d.String()
}

// checkRegions checks that all regions are on a server, and that a large load has more than one.
func (s *Store) checkRegions(ctx context.Context, l *precheck.List, load precheck.Load) {
	all, err := s.client.Regions(ctx, s.address.Table)
	if err != nil {
		l.Fail(precheck.Regions, s.address.explain(err), "")
		return
	}
	away := slices.DeleteFunc(slices.Clone(all), func(r hbase.Region) bool { return r.Server != "" && r.State == "OPEN" })
	switch {
	case len(away) > 0:
		l.Warn(precheck.Regions, "a load waits for them, up to the time of --retry-for", "%d of %d regions are not open, %s, which begins at %q, for one",
			len(away), len(all), cmp.Or(away[0].State, "without a server"), away[0].Start)
	case len(all) == 1 && load.Bytes > oneRegion:
		l.Warn(precheck.Regions, "drop it while it is empty and make it by bulkload create-table, or split it", "one region gets all of it, on one server")
	default:
		l.OK(precheck.Regions, "%d, all open%s", len(all), cutNote(all, load))
	}
}

// cutNote compares the regions with the split points of a layout whose splits do not depend on users.
func cutNote(all []hbase.Region, load precheck.Load) string {
	if load.Traits.Splits == nil || len(all) == 1 {
		return ""
	}
	var points [][]byte
	for _, r := range all[1:] {
		points = append(points, r.Start)
	}
	if slices.EqualFunc(points, load.Traits.Splits(len(all)), bytes.Equal) {
		return ", split as the layout requires"
	}
	return ", not split as the layout requires"
}

// checkRoom checks the free space of the staging directory. HFiles stay on its file system. Puts
// need space there too, when HBase flushes them.
func (s *Store) checkRoom(ctx context.Context, l *precheck.List, load precheck.Load) {
	dir, err := s.stagingIn()
	if errors.Is(err, table.ErrUnfit) {
		l.Skip(precheck.StagingRoom, "%v", err)
		return
	}
	if err != nil {
		l.Fail(precheck.StagingRoom, err, "")
		return
	}
	l.Room(ctx, s.fs, precheck.StagingRoom, dir, load.Bytes)
}

// checkClock compares the clock with the catalog's file system, if that is a server.
func (s *Store) checkClock(ctx context.Context, l *precheck.List) {
	if dfs.Scheme(s.dir) == "" {
		l.Skip(precheck.Clock, "the catalog is on this machine, and HBase does not tell its time")
		return
	}
	ahead, err := precheck.Try(ctx, s.fs, s.dir)
	if err != nil {
		l.Skip(precheck.Clock, "no file can be made to see its time: %v", err)
		return
	}
	l.Clock("the NameNode of "+s.dir, ahead)
}
