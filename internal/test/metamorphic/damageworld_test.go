package metamorphic_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/testkit"
)

// newDamageWorld makes the world of damageJob: a table after a compact and a drop, a plan of a
// load and of an extract that are half done, and what killed commands left.
func newDamageWorld(t *testing.T) *damageWorld {
	w := &damageWorld{t: t, p: newPrograms(t), dir: filepath.Join(testkit.Scratch(t), "world")}
	w.whole = w.dir + ".whole"
	w.write("usertrail.yaml", damageJob)
	for day := 1; day <= 6; day++ {
		w.deliver(day)
	}
	w.write("users.txt", "0\n00\nu1\nu2\nu3\nu4\nu5\nu6\nu7\nu8\nnobody\nno one\n")
	w.load(1)
	w.load(2)
	w.must(0, "bulkload", "compact")
	w.load(3)
	w.must(0, "bulkload", "drop", "--before", "2014-09-02")
	w.load(4)
	w.run("", "cp", "-a", "trails", "begun")
	w.killed("ledger", "bulkload", "--from", "2014-09-05", "--to", "2014-09-05", "--table", "begun", "--quiet")
	w.killed("segment:5", w.convert("made")...)
	w.planned()
	w.must(0, "extract", w.ask("out", "users.txt")[1:]...)
	w.killed(breakpoint.Part+":2", append(w.ask("killed", "users.txt"), "--piece-size", "8", "--workers", "1")...)
	w.run("", "cp", "-a", w.dir, w.whole)
	w.readings = w.all()
	return w
}

// planned makes plans of a load and of an extract, and does the first pieces.
func (w *damageWorld) planned() {
	lines := w.must(0, "bulkload", "plan", "--from", "2014-09-05", "--to", "2014-09-05").result
	w.write("load.pieces", lines)
	w.with(lines, "bulkload", "run-piece", "--quiet")
	lines = w.must(0, "extract", append([]string{"plan"}, append(w.ask("planned", "users.txt")[1:], "--piece-size", "8")...)...).result
	w.write("extract.pieces", lines)
	first, _, _ := strings.Cut(lines, "\n")
	w.with(first+"\n", "extract", "run-piece", "--quiet")
}

// deliver writes the logs of a day, with one bad record.
func (w *damageWorld) deliver(day int) {
	var play, order strings.Builder
	play.WriteString("user_id,time,title,seconds\n")
	order.WriteString("user_id,time,price\n")
	for u := 1; u <= 8; u++ {
		fmt.Fprintf(&play, "u%d,2014-09-%02d 10:%02d:00,title %d,%d\n", u, day, u, day*u, 60*u)
		fmt.Fprintf(&order, "u%d,2014-09-%02d 11:%02d:00,%d\n", u, day, u, 100*day+u)
	}
	play.WriteString("u1,never,nothing,1\n")
	w.write(fmt.Sprintf("logs/2014-09-%02d/play.csv", day), play.String())
	w.write(fmt.Sprintf("logs/2014-09-%02d/order.csv", day), order.String())
}

func (w *damageWorld) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	testkit.WriteFile(w.t, path, text)
}

// restore makes the world whole again.
func (w *damageWorld) restore() {
	w.t.Helper()
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Fatal(err)
	}
	w.run("/", "cp", "-a", w.whole, w.dir)
}

// run runs a program that is not one of the two commands.
func (w *damageWorld) run(dir string, program string, args ...string) {
	w.t.Helper()
	c := exec.Command(program, args...)
	if c.Dir = w.dir; dir != "" {
		c.Dir = dir
	}
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// start begins one of the two commands.
func (w *damageWorld) start(stop, stdin string, line ...string) *running {
	w.t.Helper()
	r, err := w.p.start(line[0], call{Dir: w.dir, Args: line[1:], Stdin: stdin, Env: map[string]string{breakpoint.Variable: stop, "TMPDIR": os.TempDir()}})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// clocks matches what differs between two runs of one command.
var clocks = regexp.MustCompile(`"seconds":[^,}]*|has room for [^"]*|(?m)^(?:clock|staging-room|disk-for-temp) .*$`)

// said runs one of the two commands.
func (w *damageWorld) said(stdin string, line ...string) reading {
	w.t.Helper()
	got, err := w.start("", stdin, line...).wait()
	if err != nil {
		w.t.Fatal(err)
	}
	return reading{got.Status, clocks.ReplaceAllString(got.Stdout, ""), got.Stderr}
}

func (w *damageWorld) must(status int, program string, args ...string) reading {
	w.t.Helper()
	got := w.said("", append([]string{program}, args...)...)
	if got.status != status {
		w.t.Fatalf("%s %s: status %d, want %d\n%s", program, strings.Join(args, " "), got.status, status, got.said)
	}
	return got
}

func (w *damageWorld) with(stdin string, line ...string) {
	w.t.Helper()
	if got := w.said(stdin, line...); got.status != 0 {
		w.t.Fatalf("%s: status %d\n%s", strings.Join(line, " "), got.status, got.said)
	}
}

// killed kills one of the two commands where it reaches a step.
func (w *damageWorld) killed(stop string, line ...string) {
	w.t.Helper()
	r := w.start(stop, "", line...)
	if !r.stops() {
		got, err := r.wait()
		w.t.Fatalf("%s does not reach %s: %+v, %v", strings.Join(line, " "), stop, got, err)
	}
	r.kill()
}

func (w *damageWorld) load(day int) { w.must(0, "bulkload", w.nightOf(day)...) }

func (w *damageWorld) nightOf(day int) []string {
	date := fmt.Sprintf("2014-09-%02d", day)
	return []string{"--from", date, "--to", date, "--quiet"}
}

func (w *damageWorld) convert(to string) []string {
	return []string{"bulkload", "convert", "--table", "trails", "--to", "tall", "--out", to, "--workers", "1", "--quiet"}
}

// ask returns the command line of an extract into a directory.
func (w *damageWorld) ask(out, users string) []string {
	return []string{"extract", "--table", "trails", "--users", users, "--from", "2014-09-01", "--to", "2014-09-09",
		"--types", "play,order", "--active", "any", "--out", out, "--quiet"}
}

// then runs commands one after the other, until one fails.
func (w *damageWorld) then(lines ...[]string) reading {
	var got reading
	for _, line := range lines {
		if got = w.said("", line...); got.status != 0 {
			return got
		}
	}
	return got
}

// events reads a table.
func (w *damageWorld) events(table string) []string {
	line := append(w.ask("-", "all"), "--format", "csv")
	line[slices.Index(line, "trails")] = table
	return line
}

// filesIn runs commands, and reads the files of a directory that they made.
func (w *damageWorld) filesIn(dir string, got reading) reading {
	if got.status != 0 {
		return got
	}
	var out strings.Builder
	for _, f := range w.listed(dir) {
		b, err := os.ReadFile(filepath.Join(w.dir, dir, f))
		if err != nil {
			w.t.Fatal(err)
		}
		text := digest(b)
		if strings.HasSuffix(f, ".json") {
			text = string(b)
		}
		fmt.Fprintf(&out, "%s %s\n", f, text)
	}
	got.result = out.String()
	return got
}

func (w *damageWorld) listed(dir string) []string {
	list, err := os.ReadDir(filepath.Join(w.dir, dir))
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, f := range list {
		out = append(out, f.Name())
	}
	return out
}

// all are the readings, by name.
func (w *damageWorld) all() map[string]func() reading {
	bulkload := func(args ...string) []string { return append([]string{"bulkload"}, args...) }
	out := map[string]func() reading{}
	add := func(name string, lines ...[]string) {
		out[name] = func() reading { return w.then(lines...) }
	}
	trails := w.events("trails")
	add("events", trails)
	add("verify", bulkload("verify", "--quiet"))
	add("inspect", bulkload("inspect", "trails"))
	add("pre-check", bulkload("pre-check", "--from", "2014-09-06", "--to", "2014-09-06"))
	add("load", bulkload(w.nightOf(6)...), trails)
	add("compact", bulkload("compact", "--quiet"), trails)
	add("drop", bulkload("drop", "--before", "2014-09-03", "--quiet"), trails)
	add("undrop", bulkload("undrop", "--quiet"), trails)
	add("convert", w.convert("other"), w.events("other"))
	add("go on converting", w.convert("made"), w.events("made"))
	add("explain", append([]string{"extract", "explain"}, trails[1:slices.Index(trails, "--out")]...))
	add("verify begun", bulkload("verify", "--table", "begun", "--quiet"))
	add("pre-check begun", bulkload("pre-check", "--table", "begun", "--from", "2014-09-05", "--to", "2014-09-05"))
	add("begun", bulkload(append(w.nightOf(5), "--table", "begun")...), w.events("begun"))
	add("inspect result", []string{"extract", "inspect", "out"})
	add("report", []string{"extract", "report", "out", "--json", "--quiet"})
	out["rebuild"] = func() reading { return w.rebuild(99) } // there is nothing to do
	out["rebuild lost"] = func() reading {
		if err := os.Remove(filepath.Join(w.dir, "trails/manifest.json")); err != nil {
			w.t.Fatal(err)
		}
		return w.rebuild(0)
	}
	out["plan"] = func() reading { return w.said("", bulkload("plan", "--from", "2014-09-05", "--to", "2014-09-05")...) }
	out["run-piece"] = w.runPieces
	out["commit"] = w.commit
	out["go on extracting"] = func() reading {
		return w.filesIn("killed", w.said("", append(w.ask("killed", "users.txt"), "--piece-size", "8", "--workers", "1")...))
	}
	out["extract pieces"] = func() reading { return w.extractPieces(nil) }
	out["plan extract"] = func() reading {
		return w.extractPieces(append([]string{"extract", "plan"}, append(w.ask("planned", "users.txt")[1:], "--piece-size", "8")...))
	}
	return out
}

// rebuild makes the manifest again, and reads it. The status also is another one.
func (w *damageWorld) rebuild(also int) reading {
	got := w.said("", "bulkload", "rebuild")
	if got.status != 0 && got.status != also {
		return got
	}
	b, err := os.ReadFile(filepath.Join(w.dir, "trails/manifest.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	return reading{0, strings.TrimSpace(string(b)), got.said}
}

// runPieces does the pieces of the load again, and commits.
func (w *damageWorld) runPieces() reading {
	lines, err := os.ReadFile(filepath.Join(w.dir, "load.pieces"))
	if err != nil {
		w.t.Fatal(err)
	}
	if got := w.said(string(lines), "bulkload", "run-piece", "--quiet"); got.status != 0 {
		return got
	}
	return w.commit()
}

// commit commits the pieces of the load, and reads the table and its bad records.
func (w *damageWorld) commit() reading {
	got := w.then([]string{"bulkload", "commit", "--pieces", "load.pieces", "--quiet"}, w.events("trails"))
	bad := w.filesIn("trails/quarantine", got)
	bad.result += got.result
	return bad
}

// extractPieces does the pieces of the extract, and commits. The line, if it is not nil, comes
// first.
func (w *damageWorld) extractPieces(line []string) reading {
	if line != nil {
		if got := w.said("", line...); got.status != 0 {
			return got
		}
	}
	lines, err := os.ReadFile(filepath.Join(w.dir, "extract.pieces"))
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		if got := w.said(line, "extract", "run-piece", "--quiet"); got.status != 0 {
			return got
		}
	}
	return w.filesIn("planned", w.said("", "extract", "commit", "--pieces", "extract.pieces", "--quiet"))
}
