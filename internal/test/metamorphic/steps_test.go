package metamorphic_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/breakpoint"
)

// address returns the name of a table on a command line.
func (x *run) address(name string) string {
	switch {
	case x.hdfs != "":
		return x.hdfs + "/" + name
	case x.Store == inHDFS:
		return "hdfs://lab/" + name
	}
	return name
}

// inHBase reports whether a table is in HBase. The second table is a table of files, which
// can be imported.
func (x *run) inHBase(name string) bool { return x.Store == inHBase && name == firstTable }

// tableFlags returns the flags that select a table. The job file has the catalog of a table
// in HBase.
func (x *run) tableFlags(name string) []string {
	if x.inHBase(name) {
		return []string{"--job", "usertrail.yaml"}
	}
	return []string{"--table", x.address(name)}
}

// quiet are the flags of every load. Memory is the least allowed amount.
var quiet = []string{"--quiet", "--memory", "64MiB"}

func (x *run) load(s *Step) error {
	if err := x.jobFile(s); err != nil {
		return err
	}
	o := x.model.load(s)
	if x.held[s.Table] {
		o = outcome{statuses: []int{75}}
	}
	defer x.holding(s.Table, o, s, breakpoint.Loaded)()
	if x.inHBase(s.Table) {
		x.begun(s, &o)
	}
	got, err := x.command(s, "bulkload", "", x.loadLine(s, s.Flags)...)
	if err != nil {
		return err
	}
	if x.inHBase(s.Table) {
		x.putting(s, o, got)
	}
	if slices.Contains(o.refusals, got.Status) && got.number("loads") > 0 {
		o = x.loadOthers(s, got)
	}
	return x.apply(s, o, got, breakpoint.Loaded)
}

// loadLine returns the command line of a load.
func (x *run) loadLine(s *Step, flags []string) []string {
	var to []string
	switch {
	case x.inHBase(s.Table):
		to = []string{"--mode", "put"}
	case x.Store == inHBase: // the job file names the table in HBase
		to = []string{"--table", s.Table}
	}
	return slices.Concat(dates(s), quiet, to, flags)
}

// loadOthers returns the outcome of a load that refused the files of a killed load, and loaded the others.
func (x *run) loadOthers(s *Step, got said) outcome {
	x.leftOut = map[string]bool{}
	defer func() { x.leftOut = nil }()
	failed, _ := got.last["failed"].([]any)
	for _, f := range failed {
		entry, _ := f.(map[string]any)
		path, _ := entry["path"].(string)
		x.leftOut[strings.TrimPrefix(path, "logs/")] = true
	}
	o := x.model.load(s)
	o.statuses = append(o.statuses, got.Status)
	return o
}

// begun adjusts the outcome of a load by puts after another one was killed, which may have
// put some cells. The load must finish the killed load if it has the same job, and otherwise
// refuse it.
func (x *run) begun(s *Step, o *outcome) {
	if x.half != nil && (o.next != nil || slices.Contains(o.statuses, 75)) && (x.mixed || !reflect.DeepEqual(x.halfJob, x.job)) {
		o.refusals = append(o.refusals, 1, 64)
	}
}

// putting records the possible effects of a load by puts. Until a load ends that was not
// killed, some of its events may be in results.
func (x *run) putting(s *Step, o outcome, got said) {
	switch {
	case got.Status == killed && o.next != nil && !strings.HasPrefix(s.Stop, breakpoint.Loaded+":"):
		before := x.half
		// A load that has all files of the killed load has its job, or a job that grew from it.
		x.mixed = before != nil && !o.next.holds(before) && (x.mixed || !reflect.DeepEqual(x.halfJob, x.job))
		x.halfJob = x.job
		x.half = o.next.clone()
		if before != nil {
			x.half.events = append(x.half.events, before.events...) // as the job of the earlier load reads them
		}
		if before != nil && !o.next.holds(before) {
			x.half.entries = append(x.half.entries, before.entries...)
		}
	case got.Status == killed, slices.Contains(o.refusals, got.Status):
	case o.next != nil && slices.Contains([]int{0, 65, 75}, got.Status) && x.half != nil && o.next.holds(x.half):
		x.half, x.mixed = nil, false
	}
}

// holds reports whether t has entries of all files in the entries of o.
func (t *table) holds(o *table) bool {
	return !slices.ContainsFunc(o.entries, func(e entry) bool {
		return !slices.ContainsFunc(t.entries, func(have entry) bool { return have.path == e.path && have.part.covers(e.part) })
	})
}

// steal stops a load at a step at which it holds the table's lock, and lets a second load take
// over the lock. After the second load has opened the table, the first load continues, and then
// the second. Everything that a load reports as done must be in the table.
func (x *run) steal(s *Step) error {
	if x.Store != inHDFS || x.Real || len(s.During) != 1 || x.held[s.Table] {
		return nil // the sequence was shrunk
	}
	if err := x.jobFile(s); err != nil {
		return err
	}
	second := s.During[0]
	second.During = []Step{} // it is continued
	late := &second
	first, err := x.start(s, "bulkload", "", slices.Concat(dates(s), quiet))
	if err != nil {
		return err
	}
	if first.stops() {
		x.script.line("first=$pid; : > %s # the lease is over", word(s.Table+"/lock"))
		if err := os.WriteFile(x.path(s.Table+"/lock"), nil, 0o644); err != nil {
			return err
		}
	}
	other, err := x.start(late, "bulkload", "", slices.Concat(dates(late), quiet))
	if err != nil {
		return err
	}
	other.stops()
	var did []said
	for _, r := range []*running{first, other} {
		x.script.line("kill -CONT $first; wait $first; thaw")
		var end said
		if err := r.goOn(); err != nil {
			return err
		}
		if end.reply, err = r.wait(); err != nil {
			return err
		}
		if err := x.heard(&end, "bulkload", []string{""}); err != nil {
			return err
		}
		did = append(did, end)
	}
	x.maimed = true // a load that has lost its lock cannot clean up
	return x.settle(s, late, did[0], did[1])
}

// settle determines the result of two loads. One load may have lost its lock.
func (x *run) settle(a, b *Step, didA, didB said) error {
	before, quarantined := x.tables[a.Table], x.ground(a.Table).bad
	orders := [][]*Step{{a, b}, {b, a}, {a}, {b}, {}}
	added := func(did said) bool { return done(did) || did.Status == 1 && did.number("files") > 0 } // 1 if a file was left out
	likely := func(order []*Step) int {
		if slices.Contains(order, a) == added(didA) && slices.Contains(order, b) == added(didB) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(orders, func(o, p []*Step) int { return likely(o) - likely(p) })
	var first error
	for _, order := range orders {
		x.tables[a.Table] = before
		if !explains(order, a, didA) || !explains(order, b, didB) {
			continue
		}
		for _, s := range order {
			if o := x.model.load(s); o.next != nil {
				x.tables[a.Table] = o.next
			}
		}
		for _, s := range []*Step{a, b} { // each load may have written or removed quarantine files before it failed
			if err := x.seen(a.Table, quarantined, x.model.load(s).next); err != nil {
				return err
			}
		}
		err := x.compareTable(a.Table)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return fmt.Errorf("a load has lost its lock; the two ended with %d and %d: %w", didA.Status, didB.Status, first)
}

// explains reports whether a load may have ended as it did if the loads of order are in the
// table.
func explains(order []*Step, s *Step, did said) bool {
	return slices.Contains(order, s) || !done(did) || did.number("loaded") == 0
}

// done reports whether a load claims that it has loaded all good records. If all of them were
// dropped, its status is 64. If a log may still be written, its status is 75, as of a load without the
// lock. A loaded file may have no records, so its files are counted.
func done(did said) bool {
	return did.Status == 0 || did.Status == 65 || (did.Status == 64 || did.Status == 75) && did.number("files") > 0
}

// holding records that a table's lock is held, for steps that run while a command is stopped.
// If the command stops after its work is done, these steps see the outcome.
func (x *run) holding(name string, o outcome, s *Step, loaded string) func() {
	if s.During == nil {
		return func() {}
	}
	x.held[name] = true
	x.stood = func() {
		if o.next != nil && strings.HasPrefix(s.Stop, loaded+":") {
			x.tables[name] = o.next
		}
	}
	return func() {
		delete(x.held, name)
		x.stood = nil
	}
}

func dates(s *Step) []string {
	out := []string{"--from", s.From, "--to", s.Until}
	if len(s.Types) > 0 {
		out = append(out, "--types", behaviour.Flag(s.Types))
	}
	return out
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func upTo(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}

// A quarantineLine is a line of a quarantine file.
type quarantineLine struct {
	Path string `json:"path"`
	Raw  string `json:"raw"`
}

// again is the ending of the quarantine files of replays.
const again = ".replay"

// keptEnding is in the names of the files of corrected lines that loads moved out of quarantine files.
const keptEnding = ".kept-"

// compareKept checks that no corrected text is lost.
func (x *run) compareKept(name string, t *table) error {
	if len(t.kept) == 0 {
		return nil
	}
	list, err := x.listTable(name + "/quarantine")
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, f := range list {
		if !strings.Contains(f, keptEnding) {
			continue
		}
		b, err := x.readTable(name + "/quarantine/" + f)
		if err != nil {
			return err
		}
		lines, err := readLines[quarantineLine](b)
		if err != nil {
			return err
		}
		for _, l := range lines {
			there[l.Raw] = true
		}
	}
	for _, raw := range t.kept {
		if !there[raw] {
			return fmt.Errorf("the corrected text %q is in no file", raw)
		}
	}
	return nil
}

// quarantineFiles returns the names of a table's quarantine files, by the delivered file's
// path. The key of a quarantine file of a replay ends in again.
func (x *run) quarantineFiles(name string) (map[string]string, error) {
	out := map[string]string{}
	list, err := x.listTable(name + "/quarantine")
	if absent(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		file := name + "/quarantine/" + f
		b, err := x.readTable(file)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(f, ".") && x.maimed {
			continue // it does not exist yet
		}
		if strings.Contains(f, keptEnding) {
			continue
		}
		lines, err := readLines[quarantineLine](b)
		if err != nil {
			return nil, err
		}
		if len(lines) == 0 {
			continue // a replay loaded all of its records
		}
		path := lines[0].Path
		if strings.Contains(f, again+".") {
			path += again
		}
		if out[path] != "" {
			return nil, fmt.Errorf("%s and %s are both of %s", out[path], file, path)
		}
		out[path] = file
	}
	return out, nil
}

// quarantines returns the bad records in a table's quarantine files.
func (x *run) quarantines(name string) (map[string][]string, error) {
	files, err := x.quarantineFiles(name)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for path, file := range files {
		b, err := x.readTable(file)
		if err != nil {
			return nil, err
		}
		lines, err := readLines[quarantineLine](b)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			out[path] = append(out[path], l.Raw)
		}
	}
	return out, nil
}

// believe copies the content of a quarantine file into the model, which does not have it.
func (x *run) believe(name, path string) error {
	got, err := x.quarantines(name)
	if err != nil {
		return err
	}
	t := x.ground(name)
	delete(t.bad, path)
	for _, raw := range got[path] {
		t.bad[path] = append(t.bad[path], badLine{path: path, index: -1, raw: raw, wrote: raw})
	}
	x.tables[name] = t
	return nil
}

// seen determines which quarantine files a command had written when it was killed.
func (x *run) seen(name string, before map[string][]badLine, next *table) error {
	if next == nil {
		return nil
	}
	got, err := x.quarantines(name)
	if err != nil {
		return err
	}
	t := x.ground(name)
	for path, lines := range next.bad {
		if slices.Equal(got[path], raws(lines)) {
			t.bad[path] = lines
		}
	}
	for path := range before {
		if next.bad[path] == nil && got[path] == nil {
			delete(t.bad, path)
		}
	}
	x.tables[name] = t
	return nil
}

func raws(lines []badLine) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.raw)
	}
	return out
}

// savedName returns the path of the copy of a quarantine file.
func savedName(path string) string { return "saved/" + strings.ReplaceAll(path, "/", "-") + "l" }

// save copies a quarantine file, like a user who wants to correct it later.
func (x *run) save(s *Step) error {
	files, err := x.quarantineFiles(s.Table)
	if err != nil || files[s.File] == "" || x.tables[s.Table] == nil || x.tables[s.Table].bad[s.File] == nil {
		return err
	}
	b, err := x.readTable(files[s.File])
	if err != nil {
		return err
	}
	x.saved[s.File] = x.tables[s.Table].bad[s.File]
	to := savedName(s.File)
	x.tree[to] = digest(b)
	x.script.line("mkdir -p saved && cp %s %s", word(files[s.File]), word(to))
	if err := os.MkdirAll(x.path("saved"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(x.path(to), b, 0o644)
}

// badFile returns the name of the quarantine file of a step, or of its copy; "" if there is
// none.
func (x *run) badFile(s *Step) (string, error) {
	if s.Saved {
		return savedName(s.File), nil
	}
	files, err := x.quarantineFiles(s.Table)
	return files[s.File], err
}

// readBad reads the quarantine file of a step, or its copy.
func (x *run) readBad(s *Step, name string) ([]byte, error) {
	if s.Saved {
		return os.ReadFile(x.path(name))
	}
	return x.readTable(name)
}

// correct corrects lines of a quarantine file, or of its copy. A line that is listed twice gets another time.
func (x *run) correct(s *Step) error {
	lines := slices.Clone(x.quarantined(s))
	if len(lines) == 0 || x.files[s.File] == nil {
		return nil
	}
	name, err := x.badFile(s)
	if err != nil {
		return err
	}
	b, err := x.readBad(s, name)
	if err != nil {
		return err
	}
	objects, err := readLines[map[string]json.RawMessage](b)
	if err != nil || len(objects) != len(lines) {
		return fmt.Errorf("%s has %d lines, want %d: %w", name, len(objects), len(lines), err)
	}
	for i, n := range s.Lines {
		l := &lines[n%len(lines)]
		l.rec = corrected(l.rec, s.File)
		if slices.Contains(s.Lines[:i], n) {
			l.rec.Micros += 1_000_000
		}
		l.raw = x.line(x.files[s.File].columns, &l.rec)
		objects[n%len(lines)]["raw"] = marshal(l.raw)
	}
	var text strings.Builder
	for _, o := range objects {
		text.Write(append(marshal(o), '\n'))
	}
	if s.Saved {
		x.saved[s.File] = lines
		return x.write(name, []byte(text.String()))
	}
	t := x.ground(s.Table)
	t.bad[s.File] = lines
	x.tables[s.Table] = t
	x.script.write(name, []byte(text.String()))
	return x.writeTable(name, []byte(text.String()))
}

// corrected returns the correct form of a bad record.
func corrected(r Record, path string) Record {
	r.Bad = ""
	if d := dateOf(path); d != "" && apart(r.date(written), d) > 0 {
		r.Micros = day(d).UnixMicro() + 43_200_000_000
	}
	return r
}

func (x *run) replayFile(s *Step) error {
	if err := x.jobFile(s); err != nil {
		return err
	}
	name, err := x.badFile(s)
	if err != nil {
		return err
	}
	switch {
	case name == "":
		name = "nowhere.jsonl"
	case x.hdfs != "" && !s.Saved:
		name = x.address(name)
	}
	o := x.model.replay(s)
	if x.held[s.Table] && o.next != nil {
		o = outcome{statuses: []int{75}}
	}
	defer x.holding(s.Table, o, s, breakpoint.Loaded)()
	flags := quiet
	if s.Saved {
		flags = append([]string{"--keep"}, quiet...)
	}
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"replay", name}, flags)...)
	if err != nil {
		return err
	}
	if o.idle && got.Status == 65 && got.number("loads") == 0 {
		o.next = nil
	}
	if err := x.apply(s, o, got, breakpoint.Loaded); err != nil || s.Saved {
		return err
	}
	return x.lost(s.Table, s.File, o.stays, got.Status)
}

// lost removes the lines that a replay has removed from a quarantine file. The file has no other lines than
// before, and it has the lines of stays.
func (x *run) lost(name, path string, stays []string, status int) error {
	got, err := x.quarantines(name)
	if err != nil {
		return err
	}
	for _, raw := range stays {
		if status != killed && !slices.Contains(got[path], raw) {
			return fmt.Errorf("replay: the corrected text %q is lost", raw)
		}
	}
	t := x.ground(name)
	left := slices.Clone(got[path])
	var lines []badLine
	for _, l := range t.bad[path] {
		if i := slices.Index(left, l.raw); i >= 0 {
			lines, left = append(lines, l), slices.Delete(left, i, i+1)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("replay: the quarantine file of %s has other lines than before: %q", path, left)
	}
	if t.bad[path] = lines; len(lines) == 0 {
		delete(t.bad, path)
	}
	x.tables[name] = t
	return nil
}

func (x *run) compact(s *Step) error {
	statuses := []int{0, 99}
	if x.table(s.Table) == nil {
		statuses = []int{66}
	}
	if x.held[s.Table] {
		statuses = []int{66, 75}
	}
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"compact", "--table", x.address(s.Table)}, quiet, s.Flags)...)
	if err != nil {
		return err
	}
	if t := x.table(s.Table); t != nil && t.undo != nil && got.Status != 99 {
		t = t.clone()
		t.undo = &undo{t.undo.dropped, t.undo.events, true}
		x.tables[s.Table] = t
	}
	return x.apply(s, outcome{statuses: statuses}, got, "")
}

func (x *run) undrop(s *Step) error {
	o := x.model.undrop(s)
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"undrop", "--table", x.address(s.Table)}, quiet, s.Flags)...)
	if err != nil {
		return err
	}
	return x.apply(s, o, got, "")
}

func (x *run) dropDays(s *Step) error {
	o := x.model.drop(s)
	if x.held[s.Table] {
		o = outcome{statuses: []int{66, 75}}
	}
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"drop", "--all", "--table", x.address(s.Table), "--before", s.From}, quiet, s.Flags)...)
	if err != nil {
		return err
	}
	return x.apply(s, o, got, "")
}

// convert converts the first table into the second.
func (x *run) convert(s *Step) error {
	t, to := x.table(firstTable), x.ground(secondTable)
	o := outcome{statuses: []int{0}}
	switch {
	case t == nil:
		o.statuses = []int{66}
	case to.there, x.outs[s.To]:
		o.statuses = []int{64, 73}
	case s.To != secondTable || t.layout == s.Layout:
		o.statuses = []int{64}
	case s.Layout == "fixed" && !t.numbered():
		o.statuses = []int{64} // before the command makes a directory
	default:
		o.next = t.clone()
		o.next.layout, o.next.undo = s.Layout, nil
		x.ids[secondTable] = maps.Clone(x.ids[firstTable])
	}
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"convert", "--table", x.address(firstTable), "--to", s.Layout, "--out", x.address(s.To)}, quiet, s.Flags)...)
	if err != nil {
		return err
	}
	second := *s
	second.Table = secondTable
	return x.apply(&second, o, got, "")
}

// extract runs an extract of some trails.
func (x *run) extract(s *Step) error {
	if x.inHBase(s.Table) && (x.table(s.Table) == nil || x.half != nil) {
		return nil // the result is not certain
	}
	args, err := x.query(s)
	if err != nil {
		return err
	}
	var want result
	refusals := x.refused(s)
	if t := x.table(s.Table); t != nil {
		want = t.extract(s)
	}
	got, err := x.command(s, "extract", "", args...)
	switch {
	case err != nil:
		return err
	case got.Status == killed:
		delete(x.made, s.Out)
		x.cutShort = append(x.cutShort, s.Out)
		x.outs[s.Out] = x.outs[s.Out] || strings.HasPrefix(s.Stop, breakpoint.Published+":")
		return nil
	case x.cannot(s, got):
		return nil
	case len(refusals) > 0:
		return wrapped("extract --out "+s.Out, got.want(refusals))
	}
	delete(x.made, s.Out)
	if err := got.want([]int{0}); err != nil {
		return fmt.Errorf("extract --out %s: %w", s.Out, err)
	}
	if x.inHBase(s.Table) && got.stopped {
		want = x.table(s.Table).extract(s) // the table was read again
	}
	x.outs[s.Out] = true
	return x.compareResult(s, got, want)
}

// query returns the command line of an extract. It also writes the list of users.
func (x *run) query(s *Step) ([]string, error) {
	users := "all"
	if s.Sample != nil {
		users = s.Sample.flag()
	} else if len(s.Users) > 0 {
		users = "lists/asked.txt"
		if err := x.write(users, []byte(strings.Join(s.Users, "\n")+"\n")); err != nil {
			return nil, err
		}
	}
	args := slices.Concat(x.tableFlags(s.Table), []string{"--active", s.Active, "--format", s.Format, "--out", s.Out, "--quiet", "--memory", "128MiB"}, dates(s), s.Flags, s.Conditions.flags(), s.Shown.flags())
	args = append(args, "--users", users)
	if s.Overwrite {
		args = append(args, "--overwrite")
	}
	return args, nil
}

// cannot reports whether an extract was refused for an allowed reason.
func (x *run) cannot(s *Step, got said) bool {
	switch got.Status {
	case 64: // some layouts do not support the query, some trails do not fit, and a killed extract may still have its directory
		if slices.ContainsFunc(x.cutShort, func(out string) bool { return out != s.Out && inside(s.Out, out) }) {
			return true
		}
		if t := x.table(s.Table); x.Fat && t != nil && t.heaviest() > heldWhole {
			return true
		}
		at := slices.Index(s.Flags, "--plan")
		return at >= 0 && s.Flags[at+1] == "get"
	case 73: // the directory has a lock or a part of the result of a killed extract
		return s.Out == emptyDir && !s.Overwrite || slices.ContainsFunc(x.cutShort, func(out string) bool { return out != s.Out && inside(out, s.Out) })
	}
	return false
}

// emptyDir is an empty directory.
const emptyDir = "empty"

// refused returns the statuses with which an extract must be refused, none if it must
// succeed.
func (x *run) refused(s *Step) []int {
	var out []int
	t := x.table(s.Table)
	if t == nil {
		return []int{64, 66, 73}
	}
	for _, k := range s.Types {
		if !slices.Contains(t.names(), k) {
			out = append(out, 64)
		}
	}
	if s.Conditions.wrong(t) || s.Shown.wrong(t, s.Types) {
		out = append(out, 64)
	}
	for _, name := range []string{firstTable, secondTable} {
		if s.Table == name && (inside(s.Out, name) || inside(name, s.Out)) {
			return append(out, 64)
		}
		if x.tables[name] != nil && (inside(s.Out, name) || inside(name, s.Out)) {
			out = append(out, 64, 73)
		}
	}
	for name := range x.tree {
		if inside(name, s.Out) || inside(s.Out, name) {
			out = append(out, 64, 73)
		}
	}
	for name := range x.outs {
		switch {
		case !x.outs[name] || name == s.Out:
		case inside(name, s.Out):
			out = append(out, 73)
		case inside(s.Out, name):
			out = append(out, 64)
		}
	}
	if (x.outs[s.Out] || s.Out == emptyDir && len(out) > 0) && !s.Overwrite {
		out = append(out, 73)
	}
	return out
}

// inside reports whether a is b, or is below it.
func inside(a, b string) bool { return b == "." || a == b || strings.HasPrefix(a, b+"/") }

// compareResult compares the output and the files of an extract with the expected result.
func (x *run) compareResult(s *Step, got said, want result) error {
	for field, n := range map[string]int{"users": want.users, "found": want.found, "active": want.active, "kept": want.kept, "events": want.count} {
		if got.number(field) != n {
			return fmt.Errorf("extract: %s is %d, want %d", field, got.number(field), n)
		}
	}
	if s.Format == "arrow" || slices.Contains(s.Flags, "--partition-by") {
		return nil
	}
	if err := x.compareRows(s, s.Shown.of(want.events)); err != nil {
		return fmt.Errorf("extract --out %s: %w", s.Out, err)
	}
	return nil
}

// compareRows compares the files of an extract with the expected events.
func (x *run) compareRows(s *Step, want []event) error {
	all, err := textsIn(x.path(s.Out), s.Shown.format(s.Format))
	if err == nil {
		err = s.Shown.check(all, want, s.Types, x.table(s.Table).zone)
	}
	if err != nil || s.Shown != nil && s.Shown.Wide {
		return err
	}
	rows, err := rowsOfTexts(all)
	if err != nil {
		return err
	}
	if n := s.latest(); n > 0 {
		err = areLatest(rows, want, n)
	} else {
		err = sameEvents(rows, want)
	}
	if err != nil || s.Shown != nil && s.Shown.Excel { // whole seconds do not show the order
		return err
	}
	return inTrails(rows)
}

// compareOuts checks that results are complete.
func (x *run) compareOuts() error {
	for name, there := range x.outs {
		if _, err := os.Stat(filepath.Join(x.path(name), "_SUCCESS")); there && err != nil {
			return fmt.Errorf("the result %s is not whole: %w", name, err)
		}
	}
	return nil
}
