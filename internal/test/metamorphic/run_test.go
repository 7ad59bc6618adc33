package metamorphic_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/run/breakpoint"
)

// A run executes the steps of a sequence, and compares the files and tables with the model
// after each. Its directory is
//
//	work/usertrail.yaml work/logs work/lists    input of the commands
//	work/trails work/other                      tables
//	work/out0 …                                 results of extracts
//	work/docs                                   files that are unrelated to the commands
//	tmp                                         $TMPDIR
type run struct {
	*model
	t      testing.TB
	p      *programs
	dir    string
	script script

	tree    map[string]string         // digests of all files that no command may change
	ids     map[string]map[string]ids // by table: IDs of events, which never change
	checks  map[string]string         // by table: the last manifest that was compared
	older   map[string][]string       // by table: the earlier manifests
	pending map[string]*table         // by table: its state if the ledger of a killed load counts
	held    map[string]bool           // tables whose lock is held
	stood   func()                    // called when a command is stopped, nil for none
	hdfs    string                    // the directory of tables on a real HDFS
	hbase   string                    // the address of the first table, if it is in HBase
	place   string                    // the first table if it is in HBase, with the place of its catalog
	shown   string                    // what the script prints in place of the next command line
	maimed  bool                      // a command was killed, so its temporary files may remain

	kept      []*cell.Cell // rows of the first table in HBase, in a snapshot
	keptTable *table       // the content of the table at the snapshot

	cutShort []string          // directories of killed extracts
	made     map[string]string // by result: the query, if the extract was in pieces
	parts    map[string][]byte // by ending: a file of an earlier piece

	calls   int
	peak    float64        // for a fat sequence: the largest share of --memory that a command used
	peakOf  string         // its command line
	endings map[string]int // number of commands by their ending
}

// ids are the column IDs of equal events, in order.
type ids []int64

const (
	firstTable  = "trails"
	secondTable = "other"
)

// precious are files that are unrelated to the commands.
var precious = map[string]string{"docs/thesis.txt": "ten years\n", "docs/2014-09-01/notes.parquet": "none\n", "photo.jpg": "jpg\n", "lists/team.txt": "u1\nu10\n"}

func newRun(t testing.TB, p *programs, q *Sequence) *run {
	t.Helper()
	dir, err := os.MkdirTemp(p.scratch, "run")
	if err != nil {
		t.Fatal(err)
	}
	x := &run{
		model: newModel(q), t: t, p: p, dir: dir,
		tree: map[string]string{}, ids: map[string]map[string]ids{}, checks: map[string]string{}, older: map[string][]string{}, pending: map[string]*table{}, held: map[string]bool{}, made: map[string]string{}, parts: map[string][]byte{}, endings: map[string]int{},
	}
	switch {
	case q.Real:
		x.onCluster(t)
	case q.Store == inHBase:
		x.hbase = p.hbase().Table()
		x.place = fmt.Sprintf("{path: %q, catalog: %q, root: %q}", x.hbase, x.path(firstTable), p.hbase().Root())
	}
	for _, dir := range []string{"tmp", "work/logs", "work/empty"} {
		if err := os.MkdirAll(filepath.Join(x.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(precious)) {
		if err := x.write(name, []byte(precious[name])); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func (x *run) path(name string) string { return filepath.Join(x.dir, "work", name) }

// write writes a file that no command may change.
func (x *run) write(name string, b []byte) error {
	x.script.write(name, b)
	if err := os.MkdirAll(filepath.Dir(x.path(name)), 0o755); err != nil {
		return err
	}
	x.tree[name] = digest(b)
	return os.WriteFile(x.path(name), b, 0o644)
}

// digestSeed is the seed of digest.
var digestSeed = maphash.MakeSeed()

// digest returns a short text for the content of a file. Only texts of the same process are comparable.
func digest(b []byte) string { return fmt.Sprintf("%x", maphash.Bytes(digestSeed, b)) }

// step executes a step and compares.
func (x *run) step(s *Step) error {
	if err := x.do(s); err != nil {
		return err
	}
	return x.compare()
}

// steps are the kinds of steps, by their names in Step.Do. The function init sets it, because a step may execute others.
var steps map[string]func(*run, *Step) error

func init() {
	steps = map[string]func(*run, *Step) error{
		"deliver":       func(x *run, s *Step) error { return x.deliver(s.File, s.Columns, s.Records) },
		"rename":        func(x *run, s *Step) error { return x.rename(s.File, s.To) },
		"copy":          func(x *run, s *Step) error { return x.copy(s.File, s.To) },
		"truncate":      func(x *run, s *Step) error { return x.truncate(s.File, s.Cut) },
		"job":           func(x *run, s *Step) error { x.job = *s.Job; return nil },
		"load":          (*run).load,
		"reread":        (*run).reread,
		"mark":          (*run).mark,
		"growing":       (*run).growing,
		"wait":          (*run).wait,
		"steal":         (*run).steal,
		splitRegion:     (*run).regions,
		mergeRegions:    (*run).regions,
		moveRegion:      (*run).regions,
		truncate:        (*run).empty,
		takeSnapshot:    func(x *run, _ *Step) error { return x.snapshot() },
		restoreSnapshot: (*run).restore,
		"both":          (*run).both,
		"pieces":        (*run).pieces,
		"correct":       (*run).correct,
		"save":          (*run).save,
		"replay":        (*run).replayFile,
		"folder":        (*run).folder,
		"compact":       (*run).compact,
		"drop":          (*run).dropDays,
		"undrop":        (*run).undrop,
		"convert":       (*run).convert,
		"damage":        (*run).damage,
		"import":        (*run).importTable,
		"extract":       (*run).extract,
		"cut":           (*run).cut,
		"grow":          (*run).grow,
	}
}

func (x *run) do(s *Step) error {
	if x.job.Kinds == nil && s.Do != "job" {
		return nil // the sequence was shrunk
	}
	do, ok := steps[s.Do]
	if !ok {
		return fmt.Errorf("there is no step %q", s.Do)
	}
	return do(x, s)
}

// deliver writes a log file. It replaces a file of the same name.
func (x *run) deliver(name string, columns []string, records []Record) error {
	b := compressed(name, x.text(columns, records))
	x.files[name] = &delivered{columns: columns, records: records, bytes: string(b)}
	return x.write("logs/"+name, b)
}

func (x *run) rename(from, to string) error {
	f := x.files[from]
	if f == nil || x.files[to] != nil {
		return nil
	}
	if err := x.copy(from, to); err != nil {
		return err
	}
	delete(x.files, from)
	delete(x.tree, "logs/"+from)
	x.script.line("rm %s", word("logs/"+from))
	return os.Remove(x.path("logs/" + from))
}

// copy delivers the bytes of a file under another name, or again under its own.
func (x *run) copy(from, to string) error {
	f := x.files[from]
	if f == nil {
		return nil
	}
	x.files[to] = f
	return x.write("logs/"+to, []byte(f.bytes))
}

// truncate removes bytes from the end of a compressed file.
func (x *run) truncate(name string, n int) error {
	f := x.files[name]
	if f == nil || !strings.HasSuffix(name, ".gz") || len(f.bytes) < n+20 {
		return nil
	}
	x.files[name] = &delivered{columns: f.columns, records: f.records, bytes: f.bytes[:len(f.bytes)-n], cut: true}
	return x.write("logs/"+name, []byte(x.files[name].bytes))
}

// A said is the exit status of a command, and its last line.
type said struct {
	reply
	stopped bool // it reached the step at which it was to stop
	last    map[string]any
}

// slow is the duration from which on a command is logged.
const slow = 20 * time.Second

// command runs a command line. If it stops at a step, the steps of During run before it is
// killed or continued.
func (x *run) command(s *Step, program, stdin string, args ...string) (said, error) {
	x.calls++
	var out said
	began := time.Now()
	defer func() {
		if took := time.Since(began); took > slow {
			fmt.Printf("%s took %s\n", words(program, args), took.Round(time.Second))
		}
		x.endings[fmt.Sprintf("%s %d", strings.TrimSpace(s.Do+" "+s.Stop), out.Status)]++
	}()
	r, err := x.start(s, program, stdin, args)
	if err != nil {
		return out, err
	}
	if s.Stop != "" && r.stops() {
		out.stopped = true
		if s.During == nil {
			r.kill()
			x.maimed = true
			out.Status = killed
			return out, errors.Join(r.err, x.weighed(r, program, args), x.tidy())
		}
		if err := x.meanwhile(s, r); err != nil {
			r.kill()
			return out, err
		}
	}
	if out.reply, err = r.wait(); err != nil {
		return out, err
	}
	return out, errors.Join(x.heard(&out, program, args), x.weighed(r, program, args))
}

// start starts a command line.
func (x *run) start(s *Step, program, stdin string, args []string) (*running, error) {
	x.script.run(s, cmp.Or(x.shown, words(program, args)))
	x.shown = ""
	start := x.p.start
	if x.Fat {
		start = x.p.startAlone
	}
	env := map[string]string{"TMPDIR": filepath.Join(x.dir, "tmp"), breakpoint.Variable: s.Stop, "USERTRAIL_HDFS": x.path("")}
	if x.Real {
		env["USERTRAIL_HDFS"], env["HADOOP_CONF_DIR"] = "", x.p.real.ConfDir()
	}
	return start(program, call{Dir: x.path(""), Args: args, Stdin: stdin, Env: env})
}

// meanwhile runs other steps while a command is stopped.
func (x *run) meanwhile(s *Step, r *running) error {
	if x.stood != nil {
		x.stood()
	}
	for i := range s.During {
		if err := x.do(&s.During[i]); err != nil {
			return fmt.Errorf("during %s at %s: %w", s.Do, s.Stop, err)
		}
	}
	x.script.line("thaw")
	x.stood = nil
	return r.goOn()
}

// heard parses the last line of a command and checks that its counts add up.
func (x *run) heard(out *said, program string, args []string) error {
	x.script.line("# status %d", out.Status)
	text := out.Stdout
	if streams(args) {
		text = out.Stderr
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	d := json.NewDecoder(strings.NewReader(lines[len(lines)-1]))
	d.UseNumber()
	if err := d.Decode(&out.last); err != nil {
		return fmt.Errorf("%s %s: the last line is %q\n%s", program, strings.Join(args, " "), lines[len(lines)-1], out.Stderr)
	}
	if got := out.number("status"); got != out.Status {
		return fmt.Errorf("%s: the last line says status %d, and it ended with %d", program, got, out.Status)
	}
	if _, ok := out.last["read"]; ok && out.number("read") != out.number("loaded")+out.number("quarantined")+out.number("duplicate")+out.number("skipped") {
		return fmt.Errorf("%s: the law does not hold: %s", program, lines[len(lines)-1])
	}
	return nil
}

// streams reports whether the last line is on standard error.
func streams(args []string) bool {
	at := slices.Index(args, "--out")
	return args[0] == "plan" || at >= 0 && at+1 < len(args) && args[at+1] == "-"
}

func (o *said) number(field string) int {
	n, ok := o.last[field].(json.Number)
	if !ok {
		return 0
	}
	v, err := n.Int64()
	if err != nil {
		return -1
	}
	return int(v)
}

// want checks the status of a command.
func (o *said) want(statuses []int) error {
	if slices.Contains(statuses, o.Status) {
		return nil
	}
	return fmt.Errorf("it ended with status %d, want %v\n%s", o.Status, statuses, o.Stderr)
}

// tidy removes the files of killed commands in $TMPDIR, as an operating system does.
func (x *run) tidy() error {
	tmp := filepath.Join(x.dir, "tmp")
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	return os.Mkdir(tmp, 0o755)
}

// jobFile writes the job file for a step.
func (x *run) jobFile(s *Step) error {
	text := []byte(x.job.yaml(x.Sequence, cmp.Or(x.place, x.address(s.Table)), x.layoutFor(s)))
	if x.tree["usertrail.yaml"] == digest(text) {
		return nil
	}
	return x.write("usertrail.yaml", text)
}

// apply compares the effect of a command with an outcome. loaded is the step after which a
// killed command has done its work.
func (x *run) apply(s *Step, o outcome, got said, loaded string) (err error) {
	if got.Status == killed {
		before := x.ground(s.Table)
		if o.next != nil && strings.HasPrefix(s.Stop, loaded+":") && loaded != "" {
			x.tables[s.Table] = o.next
		} else {
			x.tables[s.Table] = before
		}
		if o.next != nil && strings.HasPrefix(s.Stop, breakpoint.Ledger+":") {
			x.pending[s.Table] = o.next
		}
		return x.seen(s.Table, before.bad, o.next)
	}
	for _, path := range o.unsure {
		defer func() { err = errors.Join(err, x.believe(s.Table, path)) }()
	}
	if slices.Contains(o.refusals, got.Status) {
		return nil
	}
	if err := got.want(o.statuses); err != nil {
		return fmt.Errorf("%s: %w", s.Do, err)
	}
	if o.counts != nil && slices.Contains([]int{0, 65, 75}, got.Status) {
		c := counts{got.number("read"), got.number("loaded"), got.number("quarantined"), got.number("duplicate") + got.number("skipped"), o.counts.older}
		if c != *o.counts {
			return fmt.Errorf("%s: read, loaded, quarantined, and duplicate or skipped are %v, want %v", s.Do, c, *o.counts)
		}
	}
	if o.next != nil {
		x.tables[s.Table] = o.next
	}
	return nil
}

// compare compares files and tables with the model.
func (x *run) compare() error {
	for _, name := range []string{firstTable, secondTable} {
		if err := x.compareTable(name); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	if err := x.compareTree(); err != nil {
		return err
	}
	if err := x.compareOuts(); err != nil {
		return err
	}
	left, err := os.ReadDir(filepath.Join(x.dir, "tmp"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("$TMPDIR holds %s after the end of the command", left[0].Name())
	}
	return err
}

// compareTable extracts everything and verifies the table, if the table has changed since the
// last call.
func (x *run) compareTable(name string) error {
	text, err := x.readTable(name + "/manifest.json")
	t := x.table(name)
	switch {
	case errors.Is(err, iofs.ErrNotExist) && t == nil:
		return nil
	case errors.Is(err, iofs.ErrNotExist):
		return errors.New("it is gone")
	case err != nil:
		return err
	case t == nil:
		return errors.New("it is there, and must not be")
	}
	if list := x.older[name]; len(list) == 0 || list[len(list)-1] != string(text) {
		x.older[name] = append(list, string(text))
	}
	now := string(text) + t.String()
	if x.checks[name] == now {
		return nil
	}
	if err := x.compareEvents(name, t); err != nil {
		return err
	}
	if err := x.compareBad(name, t); err != nil {
		return err
	}
	if x.half != nil && name == firstTable {
		return nil // the table has cells that belong to no load
	}
	got, err := x.command(&Step{}, "bulkload", "", slices.Concat([]string{"verify"}, x.tableFlags(name), quiet)...)
	if err != nil {
		return err
	}
	if err := got.want([]int{0}); err != nil {
		return fmt.Errorf("verify: %w\n%s", err, got.Stdout)
	}
	if n := got.number("records"); n != len(t.events) {
		return fmt.Errorf("verify counts %d records, want %d", n, len(t.events))
	}
	x.checks[name] = now
	return nil
}

// String returns everything that compareTable compares.
func (t *table) String() string {
	var b strings.Builder
	for i := range t.events {
		b.WriteString(t.events[i].String() + "\n")
	}
	for _, path := range slices.Sorted(maps.Keys(t.bad)) {
		for _, l := range t.bad[path] {
			b.WriteString(path + " " + l.raw + "\n")
		}
	}
	return b.String()
}

// everything returns the command line of an extract of everything to standard output.
func (x *run) everything(name string, t *table) []string {
	return slices.Concat(x.tableFlags(name), []string{"--users", "all", "--from", "0001-01-01", "--to", "9999-12-31",
		"--types", behaviour.Flag(t.names()), "--active", "any", "--format", "jsonl", "--out", "-", "--quiet", "--memory", "128MiB"})
}

// everyRow extracts everything.
func (x *run) everyRow(name string, t *table) ([]row, error) {
	args := x.everything(name, t)
	if x.Fat {
		args = x.everythingFat(name, t)
	}
	got, err := x.command(&Step{}, "extract", "", args...)
	if err != nil {
		return nil, err
	}
	if err := got.want([]int{0}); err != nil {
		return nil, fmt.Errorf("the extract of everything: %w", err)
	}
	if x.Fat {
		return rowsIn(x.path(everythingOut), "jsonl")
	}
	return rowsOf([]byte(got.Stdout))
}

// compareEvents compares an extract of everything.
func (x *run) compareEvents(name string, t *table) error {
	rows, err := x.everyRow(name, t)
	if err != nil {
		return err
	}
	if x.half != nil && name == firstTable {
		return between(rows, t.events, x.half.events)
	}
	if err := sameEvents(rows, t.events); err != nil {
		return err
	}
	if err := inTrails(rows); err != nil {
		return err
	}
	now := map[string]ids{}
	for _, r := range rows {
		now[r.String()] = append(now[r.String()], r.id)
	}
	for key, had := range x.ids[name] {
		slices.Sort(now[key])
		for _, id := range had {
			if len(now[key]) >= len(had) && !slices.Contains(now[key], id) {
				return fmt.Errorf("%s had the column ID %d, and has %v", key, id, now[key])
			}
		}
	}
	x.ids[name] = now
	return nil
}

// sameEvents compares the rows of an extract with the expected events, in any order.
func sameEvents(rows []row, events []event) error {
	left := map[string]int{}
	for i := range events {
		left[events[i].String()]++
	}
	var wrong []string
	for _, r := range rows {
		if left[r.String()]--; left[r.String()] < 0 {
			wrong = append(wrong, "+ "+r.String())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		for range left[key] {
			wrong = append(wrong, "- "+key)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%d events come out, want %d; too many (+) and missing (-):\n%s", len(rows), len(events), strings.Join(wrong[:min(len(wrong), 20)], "\n"))
}

// between checks that rows contain all events of least, and no events that are not in most.
func between(rows []row, least, most []event) error {
	may, must := map[string]bool{}, map[string]int{}
	for i := range most {
		may[most[i].String()] = true
	}
	for i := range least {
		may[least[i].String()] = true
		must[least[i].String()]++
	}
	for _, r := range rows {
		if !may[r.String()] {
			return fmt.Errorf("%s comes out while a load is not finished, and is in no file", r.String())
		}
		must[r.String()]--
	}
	for _, key := range slices.Sorted(maps.Keys(must)) {
		if must[key] > 0 {
			return fmt.Errorf("%s is missing while a load is not finished", key)
		}
	}
	return nil
}

// inTrails checks the order of rows: the rows of a user are adjacent and sorted by time,
// behaviour and ID. An ID occurs once for each behaviour and day.
func inTrails(rows []row) error {
	seen, once := map[string]bool{}, map[string]bool{}
	for i := range rows {
		r := &rows[i]
		key := fmt.Sprintf("%s %s %d", r.date, r.kind, r.id)
		if once[key] {
			return fmt.Errorf("the result has the column ID of %s twice", key)
		}
		once[key] = true
		if i == 0 || rows[i-1].user != r.user {
			if seen[r.user] {
				return fmt.Errorf("the trail of %q is in two places", r.user)
			}
			seen[r.user] = true
			continue
		}
		if !rows[i-1].before(r) {
			return fmt.Errorf("%v comes before %v", rows[i-1], r)
		}
	}
	return nil
}

// compareBad compares the quarantine files.
func (x *run) compareBad(name string, t *table) error {
	got, err := x.quarantines(name)
	if err != nil {
		return err
	}
	for path, lines := range t.bad {
		if want := raws(lines); !slices.Equal(got[path], want) {
			return fmt.Errorf("the quarantine of %s holds %q, want %q", path, got[path], want)
		}
	}
	for path := range got {
		if t.bad[path] == nil {
			return fmt.Errorf("the quarantine holds %s, which has no bad records", path)
		}
	}
	return x.compareKept(name, t)
}

// compareTree checks that only files of tables and results have changed.
func (x *run) compareTree() error {
	seen := map[string]bool{}
	err := filepath.WalkDir(x.path(""), func(path string, d iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(x.path(""), path)
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case name == firstTable || name == secondTable:
			return iofs.SkipDir
		case x.tree[name] == "" && (d.IsDir() || x.leftover(name) || x.result(name)):
			return nil
		}
		b, err := os.ReadFile(path)
		switch want, ok := x.tree[name]; {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("a command made %s", name)
		case want != digest(b):
			return fmt.Errorf("a command changed %s", name)
		}
		seen[name] = true
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(x.tree)) {
		if !seen[name] {
			return fmt.Errorf("a command removed %s", name)
		}
	}
	return nil
}

// result reports whether a name is part of the result of an extract.
func (x *run) result(name string) bool {
	for out := range x.outs {
		if inside(name, out) {
			return true
		}
	}
	return false
}

// leftover reports whether a name is a lock of an extract, or a file of a killed extract.
func (x *run) leftover(name string) bool {
	for dir := name; dir != "."; dir = filepath.Dir(dir) {
		if x.leftBehind(filepath.Base(dir)) {
			return true
		}
	}
	return false
}

func (x *run) leftBehind(base string) bool {
	if !strings.HasPrefix(base, ".") {
		return false
	}
	return strings.HasSuffix(base, ".lock") || x.maimed && (strings.HasSuffix(base, ".partial") || strings.HasSuffix(base, ".old"))
}

// end removes the run's directory.
func (x *run) end(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll(x.dir); err != nil {
		t.Error(err)
	}
}

// readLines reads a file with one JSON value in each line.
func readLines[T any](b []byte) ([]T, error) {
	var out []T
	for line := range bytes.Lines(b) {
		var v T
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out = append(out, v)
	}
	return out, nil
}
