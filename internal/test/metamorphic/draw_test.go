package metamorphic_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// A drawer generates the steps of a sequence. It uses the model, so that most steps have
// something to do.
type drawer struct {
	r       *rand.Rand
	samples *rand.Rand // of samples
	m       *model
	users   []string
	files   int // number of delivered files so far
}

// draw begins a sequence.
func draw(seed uint64) (*Sequence, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 3))
	store := []string{inFiles, inFiles, inHDFS, inFiles, inHBase}[seed%5]
	return &Sequence{Seed: seed, Logs: one(r, daily, dated, export), Format: one(r, "csv", "csv", "jsonl"), Store: store}, r
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// some returns n different elements, in any order.
func some[T any](r *rand.Rand, of []T, n int) []T {
	out := slices.Clone(of)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(n, len(out))]
}

// layouts lists all key designs. Users of fixed are numbers.
var layouts = []string{"reversed", "reversed", "tall", "wide", "game", "game-time", "hashed", "fixed"}

var days = []string{"2014-08-31", "2014-09-01", "2014-09-02", "2014-09-03", "2014-09-04"}

// Users are numbers, or IDs that begin or end like others and contain separators.
var (
	numbers = []string{"1", "10", "100", "21", "99999", "7"}
	nasty   = []string{"u", "u1", "u10", "1u", "u1,", `u\c`, "张三", "😀张", `"q"`, "a b", "e\u0301", strings.Repeat("a", 250)}
)

func newDrawer(r *rand.Rand, m *model) *drawer {
	d := &drawer{r: r, samples: rand.New(rand.NewPCG(m.Seed, 4)), m: m, users: numbers}
	if r.IntN(3) > 0 {
		d.users = some(r, nasty, 6)
	}
	return d
}

// job draws the first job.
func (d *drawer) job() Step {
	j := Job{MaxBad: one(d.r, "50%", "100%", "10%", "1"), Zone: one(d.r, "UTC", "Asia/Shanghai"), Layout: one(d.r, layouts...), User: userColumn}
	if !d.m.Fat {
		j.Ready = one(d.r, "", "", "", readyByDay, readyByKind)
	}
	if d.users[0] != numbers[0] && j.Layout == "fixed" || d.m.Store == inHBase {
		j.Layout = "reversed"
	}
	for _, k := range some(d.r, allKinds, 2+d.r.IntN(3)) {
		j.Kinds = append(j.Kinds, Kind{Name: k, Fields: some(d.r, allFields, d.r.IntN(5))})
	}
	j.Texts = d.texts(&j)
	return Step{Do: "job", Job: &j}
}

// texts draws texts of a job that name behaviours.
func (d *drawer) texts(j *Job) map[string]string {
	if d.m.Logs == daily {
		return nil
	}
	var out map[string]string
	for _, text := range allTexts {
		if !slices.Contains(allKinds, text) && d.r.IntN(3) > 0 {
			if out == nil {
				out = map[string]string{}
			}
			out[text] = one(d.r, j.names()...)
		}
	}
	return out
}

// step draws the next step.
func (d *drawer) step() Step {
	if d.m.job.Kinds == nil {
		return d.job()
	}
	for _, path := range slices.Sorted(maps.Keys(d.m.files)) {
		if d.m.changed(path) && d.r.IntN(4) == 0 { // otherwise each load of it fails
			d.files++
			return Step{Do: "rename", File: path, To: d.named(path)}
		}
	}
	if d.m.lacksMarker(days[0], days[len(days)-1], d.m.job.names()) && d.r.IntN(6) == 0 { // otherwise loads load nothing
		return d.marking()
	}
	n, hbase := d.r.IntN(113), 0
	if d.m.Store == inHBase {
		hbase = 113
	}
	for _, c := range []struct {
		weight int
		draw   func() Step
	}{
		{hbase, d.puts}, {20, d.deliver}, {7, d.redeliver}, {7, d.grow}, {16, d.load}, {3, d.arriving}, {8, d.steal}, {3, d.both}, {5, d.pieces}, {10, d.mend}, {5, d.replay}, {4, d.compact}, {4, d.drop}, {2, d.convert}, {5, d.damage}, {3, d.reread},
	} {
		if n -= c.weight; n < 0 {
			return c.draw()
		}
	}
	if d.m.Store != inHBase && d.r.IntN(3) == 0 {
		return d.growResult()
	}
	return d.extract()
}

// puts generates a step for a table in HBase.
func (d *drawer) puts() Step {
	n := d.r.IntN(20)
	if d.m.half != nil { // the next load finishes the unfinished one
		n = one(d.r, 5, 7, 8, 8)
	}
	switch {
	case d.m.half != nil && !reflect.DeepEqual(d.m.job, d.m.halfJob) && d.r.IntN(4) == 0:
		j := d.m.halfJob // no other job may finish the load
		return Step{Do: "job", Job: &j}
	case d.m.half == nil && d.r.IntN(8) == 0:
		return d.imported()
	case d.r.IntN(10) == 0:
		return Step{Do: one(d.r, splitRegion, splitRegion, mergeRegions, moveRegion), Row: one(d.r, "1", "12,", "1u", "99999,", "b", "c\\", "u", "€"), Server: d.r.IntN(2)}
	case d.m.half == nil && d.r.IntN(12) == 0:
		return Step{Do: one(d.r, takeSnapshot, restoreSnapshot, restoreSnapshot)}
	case d.m.half == nil && d.r.IntN(15) == 0:
		return d.damage()
	case d.m.half == nil && d.r.IntN(15) == 0:
		return d.reread()
	case d.m.half == nil && d.r.IntN(15) == 0:
		return d.arriving()
	case d.m.half == nil && d.r.IntN(25) == 0:
		return Step{Do: truncate}
	case n < 5:
		return d.deliver()
	case n < 8:
		s := d.grow()
		if n == 7 {
			s.Job.User, s.Job.Kinds = one(d.r, userColumn, secondColumn), d.m.job.Kinds
		}
		s.Job.MaxBad = "100%"
		return s
	case n < 17:
		return d.loadHBase()
	}
	s := d.extract()
	s.Stop, s.During, s.Flags, s.Table = "", nil, nil, firstTable
	if d.r.IntN(2) == 0 { // a load runs while it reads, after the users of a sample were chosen
		s.Sample = nil
		s.Stop = "fetch:1"
		s.During = []Step{{Do: "load", Table: firstTable, From: days[0], Until: days[len(days)-1], Flags: []string{"--mode", one(d.r, "hfile", "put")}}}
	}
	return s
}

// loadHBase generates a load into a table in HBase, or a log if there is nothing to load.
func (d *drawer) loadHBase() Step {
	s := Step{Do: "load", Table: firstTable}
	d.span(&s)
	if d.m.half != nil {
		s.From, s.Until = days[0], days[len(days)-1]
	}
	if (d.m.half == nil || reflect.DeepEqual(d.m.job, d.m.halfJob)) && d.r.IntN(4) == 0 {
		s.Types = some(d.r, d.m.job.names(), 1)
	}
	if d.m.load(&s).next == nil && d.m.half == nil {
		return d.deliver()
	}
	steps := putSteps
	if d.m.half == nil && d.r.IntN(3) == 0 {
		s.Flags, steps = []string{"--mode", "hfile"}, handSteps
	}
	if d.r.IntN(6) == 0 { // the regions change while it runs
		s.Stop = fmt.Sprintf("%s:%d", one(d.r, steps...), 1+d.r.IntN(3))
		s.During = []Step{{Do: one(d.r, splitRegion, mergeRegions, moveRegion), Row: one(d.r, "1", "12,", "b", "u"), Server: d.r.IntN(2)}}
		return s
	}
	if s.Flags == nil && d.r.IntN(3) == 0 {
		s.Stop = fmt.Sprintf("%s:%d", one(d.r, putSteps...), 1+d.r.IntN(3))
	}
	return s
}

// imported generates an import into HBase, or a load into the table of files that it imports.
func (d *drawer) imported() Step {
	s := Step{Do: "load", Table: secondTable}
	if d.m.table(secondTable) != nil && d.r.IntN(2) == 0 {
		s = Step{Do: "import"}
		if d.r.IntN(4) == 0 {
			s.Stop = one(d.r, "begun:1", "segment:1", "loaded:1")
		}
		return s
	}
	d.span(&s)
	if d.r.IntN(2) == 0 {
		s.Types = some(d.r, d.m.job.names(), 1+d.r.IntN(2))
	}
	return s
}

func (d *drawer) deliver() Step {
	d.files++
	day, kind := one(d.r, days...), one(d.r, d.m.job.names()...)
	name := fmt.Sprintf("%s/%s.%d.%s", day, kind, d.files, d.m.Format)
	switch d.m.Logs {
	case dated:
		name = fmt.Sprintf("%s/events.%d.%s", day, d.files, d.m.Format)
	case export:
		name = fmt.Sprintf("export.%d.%s", d.files, d.m.Format)
	}
	if d.r.IntN(3) == 0 {
		name += ".gz"
	}
	var records []Record
	for range d.r.IntN(7) {
		records = append(records, d.record(day, kind))
	}
	columns := append(slices.Clone(allFields), userColumn, secondColumn, timeColumn, kindColumn)
	return Step{Do: "deliver", File: name, Columns: some(d.r, columns, len(columns)), Records: records}
}

// values lists values of each type.
var values = map[string][]string{
	"string": {"x", "a,b", `say "no"`, "two\nlines", "新闻", " blank ", "NULL"},
	"int64":  {"0", "-1", "3600", "9223372036854775807"},
	"double": {"3.25", "-0.5", "0.1", "1e+300"},
	"bool":   {"true", "false"},
}

func (d *drawer) record(date, kind string) Record {
	if d.m.Logs != daily {
		kind = one(d.r, allTexts...)
	}
	if d.m.Logs == export {
		date = one(d.r, days...)
	}
	at := day(date).UnixMicro() + 8*hour + d.r.Int64N(4)*hour // the same day in all zones
	switch d.r.IntN(12) {
	case 0:
		at += one[int64](d.r, -24, 24) * hour
	case 1:
		at += one[int64](d.r, -200, 200) * hour
	case 2, 3, 4:
		at += one[int64](d.r, 1, 999, 1000, 1_000_000)
	}
	out := Record{User: one(d.r, d.users...), Micros: at, Kind: kind, Values: map[string]string{}}
	for _, f := range allFields {
		if d.r.IntN(4) > 0 {
			out.Values[f] = one(d.r, values[universe[f]]...)
		}
	}
	if d.r.IntN(6) == 0 {
		out.Bad = one(d.r, badUser, badTime, badType)
	}
	return out
}

// hour is in microseconds.
const hour int64 = 3_600_000_000

// file draws a delivered file.
func (d *drawer) file() string {
	names := slices.Sorted(maps.Keys(d.m.files))
	if len(names) == 0 {
		return "none.csv"
	}
	return one(d.r, names...)
}

// redeliver delivers a file again: under its name, under another one, corrected, or
// truncated.
func (d *drawer) redeliver() Step {
	name := d.file()
	if d.m.files[name] == nil {
		return d.deliver()
	}
	d.files++
	other := d.named(name)
	switch n := d.r.IntN(8); {
	case n < 1:
		return Step{Do: "copy", File: name, To: name}
	case n < 2:
		return Step{Do: "copy", File: name, To: other}
	case n < 5:
		return Step{Do: "rename", File: name, To: other}
	case n < 6 && !d.m.loaded(name):
		return Step{Do: "truncate", File: name, Cut: 9 + d.r.IntN(12)}
	}
	if d.m.loaded(name) && d.r.IntN(8) > 0 {
		return d.deliver()
	}
	return d.whole(name)
}

// named returns the name of a file with the number of the latest.
func (d *drawer) named(name string) string {
	dir, base := "", name
	if i := strings.LastIndex(name, "/"); i >= 0 {
		dir, base = name[:i+1], name[i+1:]
	}
	parts := strings.Split(base, ".")
	parts[1] = fmt.Sprint(d.files)
	return dir + strings.Join(parts, ".")
}

// whole delivers a file again without its mistakes.
func (d *drawer) whole(name string) Step {
	f := d.m.files[name]
	var records []Record
	for _, r := range f.records {
		records = append(records, corrected(r, name))
	}
	return Step{Do: "deliver", File: name, Columns: f.columns, Records: records}
}

// grow draws a later job.
func (d *drawer) grow() Step {
	j := d.m.job
	j.Kinds = nil
	for _, k := range d.m.job.Kinds {
		j.Kinds = append(j.Kinds, Kind{k.Name, slices.Clone(k.Fields)})
	}
	k := &j.Kinds[d.r.IntN(len(j.Kinds))]
	switch n := d.r.IntN(17); {
	case n >= 15:
		j.Ready = one(d.r, "", readyByDay, readyByKind)
	case n >= 12:
		j.Texts = d.texts(&j)
	case n < 4:
		k.Fields = some(d.r, allFields, 1+d.r.IntN(len(allFields)))
	case n < 5:
		k.Fields = some(d.r, k.Fields, len(k.Fields))
	case n < 7:
		for _, name := range some(d.r, allKinds, len(allKinds)) {
			if j.kind(name) == nil {
				j.Kinds = append(j.Kinds, Kind{name, some(d.r, allFields, d.r.IntN(4))})
				break
			}
		}
	case n < 8:
		j.Kinds = some(d.r, j.Kinds, max(1, len(j.Kinds)-1))
		j.Texts = maps.Clone(j.Texts)
		maps.DeleteFunc(j.Texts, func(_, kind string) bool { return j.kind(kind) == nil })
	case n < 9:
		j.User = one(d.r, userColumn, secondColumn)
	case n < 11:
		j.MaxBad = one(d.r, "50%", "100%", "10%", "0", "1")
	default:
		j.Zone, j.Layout = one(d.r, "UTC", "Asia/Shanghai"), one(d.r, layouts...)
	}
	if t := d.m.table(firstTable); t != nil && d.r.IntN(20) > 0 {
		j.Zone, j.Layout = t.zone, t.layout
	}
	if d.users[0] != numbers[0] && j.Layout == "fixed" || d.m.Store == inHBase {
		j.Layout = "reversed"
	}
	return Step{Do: "job", Job: &j}
}

// table chooses a table, mostly the first.
func (d *drawer) table() string {
	if d.m.table(secondTable) != nil && d.r.IntN(3) == 0 {
		return secondTable
	}
	return firstTable
}

// span generates dates.
func (d *drawer) span(s *Step) {
	s.From, s.Until = days[0], days[len(days)-1]
	if d.r.IntN(3) == 0 {
		i := d.r.IntN(len(days))
		s.From, s.Until = days[i], days[i+d.r.IntN(len(days)-i)]
	}
}

func (d *drawer) load() Step {
	s := Step{Do: "load", Table: d.table()}
	d.span(&s)
	if d.r.IntN(3) == 0 {
		s.Types = some(d.r, d.m.job.names(), 1+d.r.IntN(2))
	}
	if d.r.IntN(4) == 0 {
		s.Flags = []string{"--workers", one(d.r, "1", "4")}
	}
	d.interrupt(&s, loadSteps)
	return s
}

// interrupt sometimes stops a command at a step. The command is then killed or continued.
func (d *drawer) interrupt(s *Step, steps []string) {
	n := d.r.IntN(12)
	if n > 1 {
		return
	}
	s.Stop = fmt.Sprintf("%s:%d", one(d.r, steps...), 1+d.r.IntN(2))
	if n == 1 {
		s.During = []Step{{Do: one(d.r, "compact", "load", "drop"), Table: s.Table, From: days[0], Until: days[4]}}
		if s.During[0].Do == "drop" {
			s.During[0].From = days[1]
		}
	}
}

// steal generates two loads. The second takes over the lock of the first.
func (d *drawer) steal() Step {
	s := d.load()
	if d.m.Store != inHDFS || d.m.Real {
		return s
	}
	if d.m.load(&s).next == nil {
		return d.deliver() // there is nothing to load
	}
	s.Flags, s.Layout, s.During = nil, "", nil
	second := s
	s.Do, s.Stop = "steal", fmt.Sprintf("%s:%d", one(d.r, "rename", "rename", "rename", "rename", "ledger"), 1+d.r.IntN(6))
	if strings.HasPrefix(s.Stop, "ledger") {
		s.Stop = "ledger:1"
	}
	d.span(&second)
	second.Stop, second.During = "opened:1", nil
	s.During = []Step{second}
	return s
}

// both generates a load and another command that run at the same time.
func (d *drawer) both() Step {
	s := d.load()
	if d.m.load(&s).next == nil {
		return d.deliver() // there is nothing to load
	}
	s.Do, s.Stop, s.Flags = "both", "", nil
	other := Step{Do: one(d.r, "load", "extract"), Table: s.Table}
	d.span(&other)
	s.During = []Step{other}
	return s
}

func (d *drawer) pieces() Step {
	s := d.load()
	s.Do, s.Flags, s.During = "pieces", []string{"--piece-size", one(d.r, "1B", "400B", "1GiB")}, nil
	for range d.r.IntN(4) {
		s.Order = append(s.Order, d.r.IntN(8))
	}
	if len(s.Order) > 1 {
		s.Damage, s.Pick = cutFile, s.Order[0]
	}
	if !d.m.Fat && d.r.IntN(3) == 0 {
		s.Late, s.Pick = d.r.IntN(3) > 0, d.r.IntN(8)
		s.During = []Step{d.betweenPieces(&s)}
		s.Late = s.Late && s.During[0].Do != "deliver" // a damaged piece would read the log again
	}
	return s
}

// betweenPieces generates a step that runs between the plan of a load and its commit.
func (d *drawer) betweenPieces(s *Step) Step {
	during := Step{Do: one(d.r, "drop", "drop", "undrop", "load", "compact", "deliver"), Table: s.Table}
	switch during.Do {
	case "drop":
		during.From = one(d.r, days[1:4]...)
	case "load":
		d.span(&during)
		during.Types = some(d.r, d.m.job.names(), 1)
	case "deliver":
		return d.longer()
	}
	return during
}

// bad chooses a delivered file that has a quarantine file or a copy of it.
func (d *drawer) bad(table string) (path string, saved bool) {
	if names := slices.Sorted(maps.Keys(d.m.saved)); len(names) > 0 && d.r.IntN(2) == 0 {
		return one(d.r, names...), true
	}
	if t := d.m.tables[table]; t != nil {
		names := slices.Sorted(maps.Keys(t.bad))
		names = slices.DeleteFunc(names, func(path string) bool { return strings.HasSuffix(path, again) })
		if len(names) > 0 {
			return one(d.r, names...), false
		}
	}
	return "", false
}

// mend corrects lines of a quarantine file, keeps a copy of one, or corrects the delivered
// file.
func (d *drawer) mend() Step {
	table := d.table()
	path, saved := d.bad(table)
	switch n := d.r.IntN(6); {
	case path == "":
		return d.deliver()
	case n < 2 && !saved:
		return Step{Do: "save", Table: table, File: path}
	case n < 4 && d.m.files[path] != nil && (!d.m.loaded(path) || d.r.IntN(20) == 0):
		return d.whole(path)
	}
	return Step{Do: "correct", Table: table, File: path, Saved: saved, Lines: []int{d.r.IntN(4), d.r.IntN(4)}}
}

func (d *drawer) replay() Step {
	table := d.table()
	path, saved := d.bad(table)
	if path == "" {
		return d.load()
	}
	if !d.m.Fat && d.r.IntN(3) == 0 {
		return Step{Do: "folder", Table: table}
	}
	s := Step{Do: "replay", Table: table, File: path, Saved: saved}
	d.interrupt(&s, loadSteps)
	return s
}

func (d *drawer) compact() Step {
	s := Step{Do: "compact", Table: d.table(), Flags: []string{"--keep-for", one(d.r, "0s", "24h")}}
	if d.r.IntN(8) == 0 {
		s.Stop = one(d.r, "begun:1", "segment:1", "segment:2")
	}
	return s
}

func (d *drawer) drop() Step {
	table := d.table()
	if t := d.m.table(table); t != nil && (t.dropped != "" && d.r.IntN(3) > 0 || d.r.IntN(8) == 0) {
		s := Step{Do: "undrop", Table: table, Flags: []string{"--keep-for", one(d.r, "0s", "24h")}}
		if d.r.IntN(8) == 0 {
			s.Stop = "begun:1"
		}
		return s
	}
	s := Step{Do: "drop", Table: table, From: one(d.r, days[:3]...), Flags: []string{"--keep-for", one(d.r, "0s", "24h")}}
	if d.r.IntN(4) == 0 {
		s.Stop = one(d.r, "begun:1", "segment:1")
	}
	return s
}

// damage generates damage to a table.
func (d *drawer) damage() Step {
	return Step{Do: "damage", Table: d.table(), From: days[0], Until: days[len(days)-1], Damage: one(d.r, tableDamages...), Pick: d.r.IntN(1 << 20), Back: d.r.IntN(3) == 0}
}

func (d *drawer) convert() Step {
	s := Step{Do: "convert", Layout: one(d.r, layouts...), To: secondTable}
	if t := d.m.table(firstTable); s.Layout == "fixed" && d.users[0] != numbers[0] && t != nil && t.numbered() {
		s.Layout = "reversed" // later loads could not go on
	}
	if d.r.IntN(6) == 0 {
		s.To = firstTable + "/new"
	}
	return s
}

// outs are directories that are allowed for results, and directories that are not.
var outs = []string{"out0", "out0", "out1", "out1", "out2", emptyDir, "out0/more", firstTable, firstTable + "/d", firstTable + "/answer", secondTable, ".", "docs", "docs/2014-09-01", "lists", "logs", "saved", "photo.jpg", "usertrail.yaml"}

func (d *drawer) extract() Step {
	s := Step{
		Do: "extract", Table: d.table(), Types: some(d.r, allKinds, 1+d.r.IntN(3)), Active: one(d.r, "all", "any", "any", "min:1"),
		Format: one(d.r, "parquet", "parquet", "csv", "jsonl", "arrow"), Out: one(d.r, outs...), Overwrite: d.r.IntN(3) > 0,
	}
	if t := d.m.table(s.Table); t != nil && d.r.IntN(8) > 0 {
		s.Types = some(d.r, t.names(), 1+d.r.IntN(3))
	}
	if d.m.Store != inFiles {
		s.Out = one(d.r, outs[:6]...)
	}
	d.span(&s)
	if t := d.m.table(s.Table); t != nil && d.r.IntN(2) == 0 {
		s.Conditions = d.conditions(t, s.Types)
	}
	if d.r.IntN(2) == 0 {
		s.Users = append(some(d.r, d.users, 1+d.r.IntN(4)), "nobody")
		if d.users[0] == numbers[0] {
			s.Users[len(s.Users)-1] = "424242"
		}
		s.Users = append(s.Users, s.Users[0])
	}
	d.sample(&s)
	switch d.r.IntN(10) {
	case 0:
		s.Flags = []string{"--partition-by", one(d.r, "date", "behaviour")}
	case 1:
		s.Flags = []string{"--rolls", "off"}
	case 2:
		s.Flags = []string{"--plan", one(d.r, "get", "scan")}
	case 3:
		s.Flags = []string{"--workers", "4"}
	case 4:
		s.Flags = []string{"--piece-size", "2"}
	}
	if t := d.m.table(s.Table); t != nil && !slices.Contains(s.Flags, "--partition-by") && d.r.IntN(3) == 0 {
		s.Shown = d.shown(t, &s)
	}
	d.interrupt(&s, extractSteps)
	if d.r.IntN(4) == 0 {
		s.Do, s.Flags = "cut", append(s.Flags, "--piece-size", one(d.r, "1", "2", "1000"))
		for range d.r.IntN(4) {
			s.Order = append(s.Order, d.r.IntN(8))
		}
		if !d.m.Fat {
			d.aroundCut(&s)
		}
	}
	return s
}

// aroundCut generates a load between the pieces of an extract, or damage to one of them.
func (d *drawer) aroundCut(s *Step) {
	switch n := d.r.IntN(4); {
	case n == 0 && d.m.Store != inHBase:
		s.Early, s.Stop = d.r.IntN(4), ""
		load := Step{Do: "load", Table: s.Table}
		d.span(&load)
		s.During = []Step{d.longer(), load}
	case n < 3:
		s.Damage, s.Pick = one(d.r, partDamages...), d.r.IntN(1<<10)
	}
}
