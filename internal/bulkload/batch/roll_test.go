package batch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/cell"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/table"
)

// nights writes the logs of n nights. One file of the first night has too many bad records.
func nights(p *bulkloadtest.HBase, n int) {
	p.T.Helper()
	for night := range n {
		day := fmt.Sprintf("2014-09-%02d", night+1)
		var plays, orders strings.Builder
		plays.WriteString("user,time,title,seconds\n")
		orders.WriteString("user,time,price\n")
		for i := range 200 {
			fmt.Fprintf(&plays, "%c%d,%s 10:%02d:00,one,%d\n", 'a'+(i*7+night)%26, i%11, day, i%60, i)
			if i%3 == 0 {
				fmt.Fprintf(&orders, "%c%d,%s 12:%02d:00,%d\n", 'a'+(i*5+night)%26, i%7, day, i%60, i)
			}
		}
		p.Write(day+"/play.csv", plays.String())
		p.Write(day+"/order.csv", orders.String())
	}
	p.Write("2014-09-01/order.csv", "user,time,price\nspoilt,2014-09-01 12:00:00,1\nspoilt,never,2\nspoilt,never,3\n")
}

// rolls are the rolls of the catalog, by name.
func rolls(p *bulkloadtest.HBase) map[string]string {
	p.T.Helper()
	names, err := filepath.Glob(filepath.Join(p.Dir, "catalog/d/*.roll"))
	if err != nil {
		p.T.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			p.T.Fatal(err)
		}
		out[filepath.Base(name)] = string(b)
	}
	return out
}

// TestPutsLeaveARoll compares the roll of a load of puts with the rows of the table. The roll
// does not depend on the workers or the memory.
func TestPutsLeaveARoll(t *testing.T) {
	var want map[string]string
	for _, workers := range []int{1, 2, 5} {
		p := bulkloadtest.NewHBase(t)
		nights(p, 3)
		if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-03", workers); !errors.Is(err, bulkload.ErrTooBad) {
			t.Fatalf("%d workers: %v, want ErrTooBad of one file", workers, err)
		}
		if !p.ByRolls() {
			t.Errorf("%d workers: the rolls are not asked", workers)
		}
		for _, span := range [][2]string{{"2014-09-01", "2014-09-03"}, {"2014-09-02", "2014-09-02"}, {"2014-09-03", "2014-09-09"}} {
			rows := map[string]bulkloadtest.Said{}
			for key, did := range p.Rows(span[0], span[1]) {
				rows[key] = bulkloadtest.Said{Did: did, Sure: true}
			}
			if got := p.Users(span[0], span[1]); !maps.Equal(got, rows) || len(rows) < 50 {
				t.Errorf("%d workers, %s: the roll names\n%v, and there are\n%v", workers, span, got, rows)
			}
		}
		got := rolls(p)
		if want == nil {
			want = got
		}
		if len(got) != 1 || !maps.Equal(got, want) {
			t.Errorf("%d workers leave %d rolls, not the one of 1 worker", workers, len(got))
		}
	}
}

// TestKilledPutsAreNamed kills loads of puts early and late, loads another night, and
// then the same again.
func TestKilledPutsAreNamed(t *testing.T) {
	for _, at := range []int32{1, 2, 3} {
		p := bulkloadtest.NewHBase(t)
		nights(p, 3)
		if _, err := p.Puts(t.Context(), "2014-09-02", "2014-09-02", 1); err != nil {
			t.Fatal(err)
		}
		ctx, kill := context.WithCancel(t.Context())
		var calls atomic.Int32
		p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
			if c.Method == "Multi" && calls.Add(1) == at {
				kill()
			}
			return hbasetest.Fault{}
		}})
		_, err := p.Puts(ctx, "2014-09-03", "2014-09-03", 1)
		p.Cluster.SetHooks(hbasetest.Hooks{})
		kill()
		if err == nil && at == 1 {
			t.Fatal("the load was not killed")
		}
		if !p.ByRolls() {
			t.Error("after a killed load that has its roll the rolls are not asked")
		}
		p.NamesAll("after a killed load")
		p.Extracts("after a killed load")
		if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); !errors.Is(err, bulkload.ErrTooBad) {
			t.Fatal(err)
		}
		p.NamesAll("after a load of another night")
		if _, err := p.Puts(t.Context(), "2014-09-03", "2014-09-03", 1); err != nil && !errors.Is(err, bulkload.ErrNothing) {
			t.Fatal(err)
		}
		for key, u := range p.Users("2014-09-01", "2014-09-30") {
			if !u.Sure {
				t.Errorf("in the end %q is not sure to be there", key)
			}
		}
		if _, err := os.Stat(filepath.Join(p.Dir, "catalog/begun.json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("in the end something is still begun: %v", err)
		}
		if got := rolls(p); len(got) != 3 {
			t.Errorf("in the end there are %d rolls, want one for each load", len(got))
		}
	}
}

// killPuts kills a load of puts when its first cells are in the table. Each call that puts something loses
// its response, so the load does not end before it is killed.
func killPuts(p *bulkloadtest.HBase, from, to string, types ...string) {
	p.T.Helper()
	ctx, kill := context.WithCancel(p.T.Context())
	defer kill()
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == "Multi" {
			return hbasetest.Fault{Executed: kill, Drop: true}
		}
		return hbasetest.Fault{}
	}})
	if _, err := p.Puts(ctx, from, to, 1, types...); !errors.Is(err, context.Canceled) {
		p.T.Fatalf("a killed load: %v, want it cancelled", err)
	}
	p.Cluster.Settle()
	p.Cluster.SetHooks(hbasetest.Hooks{})
}

// TestANewBehaviourOfKilledPutsIsKnown kills a load of puts with a new behaviour. Extracts of
// the older behaviours still work.
func TestANewBehaviourOfKilledPutsIsKnown(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.SetJob(strings.Replace(bulkloadtest.TwoKinds, "  order: {id: 2, fields: {price: double}}\n", "", 1))
	if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil {
		t.Fatal(err)
	}
	p.SetJob(bulkloadtest.TwoKinds)
	before := len(p.Cells())
	killPuts(p, "2014-09-02", "2014-09-02")
	if len(p.Cells()) == before {
		t.Fatal("the killed load put nothing")
	}
	p.Extracts("after a killed load of a new behaviour")
	if _, err := p.Puts(t.Context(), "2014-09-02", "2014-09-02", 1); err != nil {
		t.Fatal(err)
	}
	p.Extracts("in the end")
}

// TestNewFieldsOfKilledPutsKeepTheirPlaces kills a load of puts that adds a new field: the first load of a table, or
// a later one. A load of another day adds another field meanwhile.
func TestNewFieldsOfKilledPutsKeepTheirPlaces(t *testing.T) {
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("first load %t", first), func(t *testing.T) { testPlacesOfFields(t, first) })
	}
}

func testPlacesOfFields(t *testing.T, first bool) {
	const plays = `
logs: {path: "logs/{date}/play.csv"}
user: user
behaviours:
  play: {id: 1, fields: {title: string%s}}
`
	p := bulkloadtest.NewHBase(t)
	for _, day := range []string{"2014-09-01", "2014-09-02", "2014-09-03"} {
		p.Write(day+"/play.csv", "user,time,title,channel,device\na,"+day+" 10:00:00,one,news,box\n")
	}
	p.SetJob(fmt.Sprintf(plays, ""))
	if !first {
		p.Loaded(bulkload.Put, "2014-09-01", "2014-09-01")
	}
	p.SetJob(fmt.Sprintf(plays, ", channel: string"))
	killPuts(p, "2014-09-02", "2014-09-02")
	p.SetJob(fmt.Sprintf(plays, ", device: string"))
	if _, err := p.Puts(t.Context(), "2014-09-03", "2014-09-03", 1); err != nil {
		t.Fatal(err)
	}
	opened, done := p.Open()
	defer done()
	k := opened.Info().Schema.Kinds[0]
	var got []string
	for _, f := range k.Fields {
		got = append(got, f.Name)
	}
	if want := []string{"title", "channel", "device"}; !slices.Equal(got, want) {
		t.Errorf("the fields of play are %v, want %v: the killed load put values of its new field in the second place", got, want)
	}
}

// TestAKilledFirstLoadOfAnotherJobIsKnown kills the first load of a table by puts. A load of another day is refused if its job
// does not fit the rows that the killed load put. A load by the job of the killed load works, and so does a load after the rows
// and the catalog were removed.
func TestAKilledFirstLoadOfAnotherJobIsKnown(t *testing.T) {
	const before = "layout: tall\nlogs: {path: \"logs/{date}/play.csv\", zone: UTC}\nuser: user\nbehaviours:\n  play: {id: 1, fields: {title: string, seconds: int64}}\n"
	for what, change := range map[string][2]string{
		"type": {"int64", "string"}, "zone": {"UTC", "Asia/Shanghai"}, "layout": {"tall", "wide"}, "id": {"id: 1", "id: 2"},
	} {
		t.Run(what, func(t *testing.T) {
			p := bulkloadtest.NewHBase(t)
			p.Write("2014-09-02/play.csv", "user,time,title,seconds\na,2014-09-02 10:00:00,one,1\n")
			p.SetJob(before)
			killPuts(p, "2014-09-01", "2014-09-01")
			p.SetJob(strings.Replace(before, change[0], change[1], 1))
			_, err := p.Puts(t.Context(), "2014-09-02", "2014-09-02", 1)
			if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "a load that is under way, or was killed: ") {
				t.Errorf("another job: %v, want ErrUnfit and the killed load", err)
			}
			p.Cluster.Delete(bulkloadtest.TrailsTable, func(*cell.Cell) bool { return true })
			store := p.Connect(local.New())
			defer store.Close()
			if _, err := store.Forget(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			p.Loaded(bulkload.Put, "2014-09-02", "2014-09-02")
		})
	}
	p := bulkloadtest.NewHBase(t)
	p.SetJob(before)
	killPuts(p, "2014-09-01", "2014-09-01")
	p.Loaded(bulkload.Put, "2014-09-01", "2014-09-01")
}

// TestAPartOfAFileStaysBegun kills a load of puts of one behaviour of a file, and loads the
// file's other behaviour. Until the first behaviour is loaded, no other job may put it.
func TestAPartOfAFileStaysBegun(t *testing.T) {
	const events = `
logs: {path: "logs/{date}/events.csv", behaviour: event}
user: %s
behaviours:
  play: {id: 1, fields: {title: string}}
  order: {id: 2, fields: {price: double}}
`
	for name, first := range map[string][]string{"one behaviour is begun": {"play"}, "both are begun": nil, "each is begun": {"order"}} {
		p := bulkloadtest.NewHBase(t)
		p.Write("2014-09-01/events.csv", "user,device,event,time,title,price\na,x,play,2014-09-01 10:00:00,one,\nb,y,order,2014-09-01 11:00:00,,2\n")
		p.SetJob(fmt.Sprintf(events, "user"))
		killPuts(p, "2014-09-01", "2014-09-01", first...)
		if name == "each is begun" {
			killPuts(p, "2014-09-01", "2014-09-01", "play")
		}
		if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1, "order"); err != nil {
			t.Fatalf("%s: the other behaviour: %v", name, err)
		}
		p.SetJob(fmt.Sprintf(events, "device"))
		if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); !errors.Is(err, bulkload.ErrRequest) {
			t.Errorf("%s: another job: %v, want ErrRequest", name, err)
		}
		p.SetJob(fmt.Sprintf(events, "user"))
		if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1, "play"); err != nil {
			t.Fatalf("%s: the first behaviour: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(p.Dir, "catalog/begun.json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: in the end something is still begun: %v", name, err)
		}
		if got := slices.Sorted(maps.Keys(p.Rows("2014-09-01", "2014-09-01"))); !slices.Equal(got, []string{"a,", "b,"}) {
			t.Errorf("%s: the users are %q", name, got)
		}
	}
}

// TestALostHandoverLeavesItsRolls kills a load during its handover, when one region has its
// files, and removes the files of another region.
func TestALostHandoverLeavesItsRolls(t *testing.T) {
	bulkloadtest.InBubble(t, aLostHandoverLeavesItsRolls)
}

func aLostHandoverLeavesItsRolls(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.Cluster.Split(bulkloadtest.TrailsTable, []byte("5")) // names end in a digit, keys begin with it
	nights(p, 3)
	if _, err := p.Puts(t.Context(), "2014-09-02", "2014-09-02", 1); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	var calls atomic.Int32
	before := len(p.Cluster.Cells(bulkloadtest.TrailsTable))
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == "BulkLoadHFile" && calls.Add(1) > 1 {
			for ctx.Err() == nil && len(p.Cluster.Cells(bulkloadtest.TrailsTable)) == before {
				time.Sleep(time.Millisecond) // of the bubble's clock: the first region accepts its file
			}
			kill()
			return hbasetest.Fault{Skip: true}
		}
		return hbasetest.Fault{}
	}})
	store := p.Connect(local.New())
	defer store.Close()
	cfg := p.Config("2014-09-03", "2014-09-03")
	cfg.Store, cfg.Mode = store, bulkload.HFile
	if _, err := load.Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Fatalf("a killed load: %v, want it cancelled", err)
	}
	p.Cluster.SetHooks(hbasetest.Hooks{})
	if len(p.Cluster.Cells(bulkloadtest.TrailsTable)) == before {
		t.Fatal("no region has taken its file")
	}
	p.NamesAll("while files are under way")
	if err := os.RemoveAll(filepath.Join(p.Dir, "catalog/staging")); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, err := again.Recover(t.Context()); err != nil || len(done) != 0 {
		t.Fatalf("%d loads were finished, %v; want none", len(done), err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if !p.ByRolls() {
		t.Error("after a load that was given up the rolls are not asked")
	}
	p.NamesAll("after a load was given up")
	names := slices.Sorted(maps.Keys(rolls(p)))
	if len(names) != 3 || !strings.HasPrefix(names[0], "lost-") {
		t.Errorf("the rolls are %q, want one roll of the first load and two rolls of the lost load", names)
	}
}

// TestRowsOfOthersAreFound loads into a table that has a row already.
func TestRowsOfOthersAreFound(t *testing.T) {
	for _, mode := range []bulkload.Mode{bulkload.Put, bulkload.HFile} {
		p := bulkloadtest.NewHBase(t)
		other := &cell.Cell{Row: []byte("other,20140902,00001"), Family: []byte("d"), Qualifier: []byte("title,12345678"), Time: 1_409_600_000_000, Type: cell.Put, Value: []byte("x")}
		p.Cluster.Load(bulkloadtest.TrailsTable, other)
		store := p.Connect(local.New())
		defer store.Close()
		cfg := p.Config("2014-09-01", "2014-09-02")
		cfg.Store, cfg.Mode = store, mode
		if _, err := load.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if p.ByRolls() {
			t.Errorf("by %s: the rolls are asked, and they do not know who was there before", mode)
		}
		p.NamesAll("beside others")
	}
}

// TestOtherWritersAreNamed checks a table into which other programs write. The table reports
// it, and a load records it.
func TestOtherWritersAreNamed(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil || !p.ByRolls() {
		t.Fatalf("after a load (%v) the rolls are asked: %t", err, p.ByRolls())
	}
	p.Others = true
	if p.ByRolls() {
		t.Error("the rolls are asked though others are told of")
	}
	if _, err := p.Puts(t.Context(), "2014-09-02", "2014-09-02", 1); err != nil {
		t.Fatal(err)
	}
	p.Others = false
	if p.ByRolls() {
		t.Error("the rolls are asked though others were told of to a load")
	}
	p.NamesAll("beside others")
}

// TestALostRollIsNotTrusted loses a roll together with the files of its load.
func TestALostRollIsNotTrusted(t *testing.T) { bulkloadtest.InBubble(t, aLostRollIsNotTrusted) }

func aLostRollIsNotTrusted(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	for _, lost := range []string{"catalog/staging", "catalog/d/000002-0001.roll"} {
		if err := os.RemoveAll(filepath.Join(p.Dir, lost)); err != nil {
			t.Fatal(err)
		}
	}
	again, done := p.Open()
	defer done()
	if _, err := again.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.ByRolls() {
		t.Error("the rolls are asked though one of a load that was given up is gone")
	}
	if r, err := p.Run(local.New()); err != nil || r.Loaded == 0 {
		t.Fatalf("the same load again: %+v, %v", r, err)
	}
	if !p.ByRolls() {
		t.Error("the rolls are not asked though the load has ended")
	}
	p.NamesAll("in the end")
}

// TestAUserOfTwoRegionsIsNamedOnce reads regions that end between the rows of a user.
func TestAUserOfTwoRegionsIsNamedOnce(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.Cluster.Split(bulkloadtest.TrailsTable, []byte("c,20140902"))
	if _, err := p.Run(local.New()); err != nil {
		t.Fatal(err)
	}
	opened, done := p.Open()
	defer done()
	regions, err := opened.Regions(t.Context())
	if err != nil || len(regions) != 3 {
		t.Fatalf("%d regions, %v; want 3", len(regions), err)
	}
	for what, from := range map[string]table.Table{"rolls": opened, "rows": table.Unrolled(opened)} {
		var got []string
		for _, r := range regions {
			users, err := from.Users(t.Context(), r, behaviour.Span{From: bulkloadtest.Date(t, "2014-09-01"), To: bulkloadtest.Date(t, "2014-09-02")})
			if err != nil {
				t.Fatal(err)
			}
			for users.Next() {
				got = append(got, fmt.Sprintf("%s%v", users.User().Key, users.User().Did))
			}
			if err := errors.Join(users.Err(), users.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"a,[0 1]", "b,[0]", "c,[0 1]"}; !slices.Equal(got, want) {
			t.Errorf("by %s the users are %q, want %q", what, got, want)
		}
	}
}

// TestWhatWasBegunEndsWithItsLoad kills a load of puts between its commit and its end. The next
// load, whatever it loads, ends it, and extracts use the rolls again.
func TestWhatWasBegunEndsWithItsLoad(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	store := p.Connect(bulkloadtest.NoRemoval{FS: local.New(), Base: "begun.json"})
	defer store.Close()
	cfg := p.Config("2014-09-01", "2014-09-01")
	cfg.Store, cfg.Mode = store, bulkload.Put
	if _, err := load.Run(t.Context(), cfg); !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("a load that cannot end: %v", err)
	}
	begun := filepath.Join(p.Dir, "catalog/begun.json")
	if _, err := os.Stat(begun); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Puts(t.Context(), "2014-09-02", "2014-09-02", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(begun); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("begun.json: %v, want none", err)
	}
	if !p.ByRolls() {
		t.Error("the rolls are not asked")
	}
	p.NamesAll("after a load that was killed at its end, and another")
	if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-02", 1); !errors.Is(err, bulkload.ErrNothing) {
		t.Errorf("both again: %v, want ErrNothing", err)
	}
}

// TestAnotherJobDoesNotContinue kills a load of puts, and corrects the job. Cells of both jobs
// would be in the table, so whatever loads the file by the new one is refused.
func TestAnotherJobDoesNotContinue(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	parts, err := p.Cut(local.New(), bulkload.Put, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	right := bulkloadtest.TwoKinds
	p.SetJob(strings.Replace(bulkloadtest.TwoKinds, "user: user", "user: title", 1))
	killedPuts(p)
	before := p.Cells()

	p.SetJob(right)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "2014-09-01/play.csv: a killed load") || !strings.Contains(err.Error(), "`bulkload forget`") {
			t.Errorf("%s: %v, want ErrRequest that names the file", what, err)
		}
	}
	_, err = p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1)
	refused("load", err)
	_, err = p.Run(local.New())
	refused("load by HFiles", err)
	_, err = p.Cut(local.New(), bulkload.Put, 1<<30)
	refused("plan", err)
	_, err = p.DoPiece(t.Context(), local.New(), &parts[0])
	refused("run-piece", err)
	if got := p.Cells(); !slices.Equal(got, before) {
		t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}

	// The other day's file goes in, and by the job as it was this one too.
	if _, err := p.Puts(t.Context(), "2014-09-02", "2014-09-02", 1); err != nil {
		t.Error(err)
	}
	p.SetJob(strings.Replace(bulkloadtest.TwoKinds, "user: user", "user: title", 1))
	if r, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil || r.Loaded != 3 {
		t.Errorf("by the job as it was: %+v, %v; want 3 records loaded", r.Counts, err)
	}
}

// noLedger is files in which no ledger is created, as by a process that was killed before.
type noLedger struct{ dfs.FS }

func (f noLedger) CreateNew(ctx context.Context, name string) (dfs.Pending, error) {
	if dfs.Base(dfs.Dir(name)) == "loads" {
		return nil, dfstest.ErrInjected
	}
	return f.FS.CreateNew(ctx, name)
}

// killedPuts ends a load of the first day by puts when it has put all cells.
func killedPuts(p *bulkloadtest.HBase) {
	p.T.Helper()
	store := p.Connect(noLedger{local.New()})
	defer store.Close()
	cfg := p.Config("2014-09-01", "2014-09-01")
	cfg.Store, cfg.Mode = store, bulkload.Put
	if _, err := load.Run(p.T.Context(), cfg); !errors.Is(err, dfstest.ErrInjected) {
		p.T.Fatalf("a load that cannot write its ledger: %v", err)
	}
	if len(p.Cells()) == 0 {
		p.T.Fatal("the killed load put nothing")
	}
}

// TestAGrownJobContinues kills a load of puts, and loads by a job with more fields. If the cells
// of the new job include the cells of the first job, the table equals the table after a load
// that was not killed and follows a load of the first job. Otherwise the load is refused.
func TestAGrownJobContinues(t *testing.T) {
	const (
		kinds  = "\nlogs: {path: \"logs/{date}/play.csv\", behaviour: {column: kind, others: skip}, max_bad: 90%}\nuser: user\nbehaviours:\n"
		before = kinds + "  play: {id: 2, fields: {title: string, seconds: int64}}\n  visit: {id: 3}\n"
		night  = "user,time,kind,title,seconds,more,last\na,2014-09-01 10:00:00,play,one,1,x,9\na,2014-09-01 10:00:01,play,,1,x,9\nb,2014-09-01 11:00:00,visit,two,2,,8\nc,2014-09-01 11:00:00,play,two,many,x,7\nc,2014-09-01 11:00:00,login,two,3,y,many\n"
	)
	change := func(from, to string) string { return strings.Replace(before, from, to, 1) }
	for name, c := range map[string]struct {
		job  string
		want error
	}{
		"behaviours":           {job: before + "  login: {id: 1, fields: {last: int64}}\n"},
		"fields":               {job: change("seconds: int64", "seconds: int64, more: string, last: int64")},
		"fields in between":    {job: change("seconds", "more: string, seconds")},
		"both":                 {job: change("seconds: int64", "seconds: int64, more: string") + "  login: {id: 4}\n"},
		"max_bad":              {job: change("90%", "80%")},
		"a first field":        {job: change("{title", "{more: string, title")},
		"order of fields":      {job: change("title: string, seconds: int64", "seconds: int64, title: string")},
		"a field where was no": {change("{id: 3}", "{id: 3, fields: {more: string}}"), bulkload.ErrRequest},
		"more bad records":     {change("seconds: int64", "seconds: int64, more: int64"), bulkload.ErrRequest},
		"user column":          {change("user: user", "user: more"), bulkload.ErrRequest},
		"type":                 {change("int64", "string"), table.ErrUnfit},
		"fewer fields":         {change("title: string, ", ""), bulkload.ErrRequest},
		"fewer behaviours":     {change("  visit: {id: 3}\n", ""), bulkload.ErrRequest},
	} {
		t.Run(name, func(t *testing.T) {
			p := bulkloadtest.NewHBase(t)
			p.Write("2014-09-01/play.csv", night)
			p.SetJob(before)
			killedPuts(p)
			begun := p.Cells()
			p.SetJob(c.job)
			if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			want := begun
			if c.want == nil {
				whole := bulkloadtest.NewHBase(t)
				whole.Write("2014-08-31/play.csv", "user,time,kind,title,seconds,more,last\n")
				whole.Write("2014-09-01/play.csv", night)
				whole.SetJob(before)
				whole.Loaded(bulkload.Put, "2014-08-31", "2014-08-31")
				whole.SetJob(c.job)
				whole.Loaded(bulkload.Put, "2014-09-01", "2014-09-01")
				want = whole.Cells()
			}
			if got := p.Cells(); !slices.Equal(got, want) {
				t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
