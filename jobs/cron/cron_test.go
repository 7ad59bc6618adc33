// Package cron_test runs what crontab and systemd would run, as they would run it.
package cron_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// A fixture is a folder as the crontab wants one: a job, its logs, and a bin with the programs.
type fixture struct {
	dir string
	day string // yesterday, by its clock
}

func TestMain(m *testing.M) { testkit.Main(m) }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(h.dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bulkload", "extract"} {
		if err := os.Symlink(filepath.Join(testkit.Commands(t), name), filepath.Join(h.dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	h.setClock(t, "2024-05-16")
	h.day = "2024-05-15"
	h.must(t, exec.Command(filepath.Join(h.dir, "bin", "bulkload"), "sample", filepath.Join(h.dir, "demo", "logs"), "--records", "2000", "--days", "1", "--from", h.day))
	text, err := os.ReadFile(filepath.Join("..", "settopbox.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	h.write(t, "usertrail.yaml", strings.ReplaceAll(string(text), "../demo/", "demo/"))
	return h
}

func (h *fixture) must(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

func (h *fixture) write(t *testing.T, name, text string) {
	t.Helper()
	testkit.WriteFile(t, filepath.Join(h.dir, name), text)
}

// adapted returns a file of this folder for the fixture.
func (h *fixture) adapted(t *testing.T, name string) string {
	t.Helper()
	return h.adapt(readFile(t, name))
}

// adapt replaces the folders in a text by folders of the fixture, and shortens its waits. In the
// file of the environment it sets the time zone, as a person would.
func (h *fixture) adapt(text string) string {
	return strings.NewReplacer(
		"/srv/usertrail", h.dir, "/var/lib/usertrail", h.dir, "/etc/usertrail/usertrail.yaml", filepath.Join(h.dir, "usertrail.yaml"),
		"PATH=/usr/local/bin:", "PATH="+h.dir+"/bin:", "#TZ=", "TZ=",
		"--wait 4h", "--wait 1m --settle 100ms", "--settle 1m", "--settle 10ms").Replace(text)
}

// A run is the outcome of a command: its status, its output, and its last line.
type run struct {
	status int
	said   string
	last   map[string]any
}

// sh runs a command as cron and systemd do: by /bin/sh, in an environment that holds
// little more than what their files say.
func (h *fixture) sh(t *testing.T, command, stdin string, env []string) run {
	t.Helper()
	c := exec.Command("/bin/sh", "-c", command)
	c.Dir, c.Env, c.Stdin = t.TempDir(), env, strings.NewReader(stdin)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	r := run{status: c.ProcessState.ExitCode(), said: out.String()}
	for line := range strings.Lines(r.said) {
		var o map[string]any
		if json.Unmarshal([]byte(line), &o) == nil {
			r.last = o
		}
	}
	return r
}

func (h *fixture) exists(name string) bool {
	_, err := os.Stat(filepath.Join(h.dir, name))
	return err == nil
}

// checkNight runs the night's command, and once more, when there is nothing left to do.
func (h *fixture) checkNight(t *testing.T, command, stdin string, env []string) {
	t.Helper()
	if !strings.Contains(command, "load.prom") {
		t.Errorf("%q writes no metrics", command)
	}
	first := h.sh(t, command, stdin, env)
	if first.status != 0 || first.last["loaded"] == 0.0 || first.last["files"] != 4.0 {
		t.Fatalf("%q ended with status %d:\n%s", command, first.status, first.said)
	}
	if !h.exists("demo/trails/manifest.json") || !h.exists("load.prom") {
		t.Errorf("%q left no table or no metrics", command)
	}
	if again := h.sh(t, command, stdin, env); again.status != 99 || again.last["already"] != 4.0 {
		t.Errorf("%q once more ended with status %d:\n%s", command, again.status, again.said)
	}
}

// entry is a line of a crontab that runs something.
var entry = regexp.MustCompile(`^(\S+ \S+ \S+ \S+ \S+) (.*)$`)

// A crontab is what cron makes of one.
type crontab struct {
	env      []string
	commands []string
}

func readCrontab(t *testing.T, text string) crontab {
	t.Helper()
	home := t.TempDir()
	c := crontab{env: []string{"HOME=" + home, "LOGNAME=usertrail", "USER=usertrail", "SHELL=/bin/sh"}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case regexp.MustCompile(`^[A-Z_]+=`).MatchString(line):
			c.env = append(c.env, line)
		default:
			m := entry.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%q is no line of a crontab", line)
			}
			if len(line) > 998 {
				t.Errorf("cron takes no line as long as %q", line)
			}
			c.commands = append(c.commands, m[2])
		}
	}
	return c
}

// unescape is a command as cron hands it over, and the standard input it gives it.
func unescape(command string) (shell, stdin string) {
	const escaped = "\x00"
	shell, stdin, _ = strings.Cut(strings.ReplaceAll(command, `\%`, escaped), "%")
	return strings.ReplaceAll(shell, escaped, "%"), strings.ReplaceAll(strings.ReplaceAll(stdin, "%", "\n"), escaped, "%")
}

func TestTheCrontabLoadsANight(t *testing.T) {
	h := newFixture(t)
	c := readCrontab(t, h.adapted(t, "usertrail.crontab"))
	if len(c.commands) != 2 {
		t.Fatalf("the crontab has %d lines, want that of the night and that of noon", len(c.commands))
	}
	for _, command := range c.commands {
		if _, stdin := unescape(command); stdin != "" {
			t.Errorf("a %% without a backslash cuts %q", command)
		}
	}
	night, _ := unescape(c.commands[0])
	h.checkNight(t, night, "", c.env)

	noon, _ := unescape(c.commands[1])
	if r := h.sh(t, noon, "", c.env); r.status != 99 || r.said != "" {
		t.Errorf("noon, with nothing new, ended with status %d and said\n%s", r.status, r.said)
	}
	h.must(t, exec.Command("cp", filepath.Join(h.dir, "demo/logs", h.day, "play.csv"), filepath.Join(h.dir, "late.csv")))
	h.write(t, "usertrail.yaml", strings.Replace(readFile(t, filepath.Join(h.dir, "usertrail.yaml")), "path: demo/logs/{date}/{behaviour}.csv", "path: [\"demo/logs/{date}/{behaviour}.csv\", \"demo/logs/{date}/{behaviour}-*.csv\"]", 1))
	late := readFile(t, filepath.Join(h.dir, "late.csv"))
	h.write(t, filepath.Join("demo/logs", h.day, "play-late.csv"), late[:strings.LastIndex(strings.TrimSuffix(late, "\n"), "\n")+1])
	if r := h.sh(t, noon, "", c.env); r.status != 0 || r.last["files"] != 1.0 || !strings.Contains(r.said, "loaded ") {
		t.Errorf("noon, with a late file, ended with status %d and said\n%s", r.status, r.said)
	}
}

// TestTheCrontabExtractsTheLastFullWeek loads the days of that week but one. The line fails until
// the week is complete, and then makes one result.
func TestTheCrontabExtractsTheLastFullWeek(t *testing.T) {
	for day, today := range map[string]string{"on Monday": "2024-05-13", "on Sunday": "2024-05-19"} {
		t.Run(day, func(t *testing.T) {
			h := newFixture(t)
			h.setClock(t, today)
			h.checkWeek(t, "2024-05-06", "2024-05-11", "2024-05-12")
		})
	}
}

// checkWeek runs the line of the week when the days from first to last are loaded, but not last, and when
// all of them are. lastButOne is the day before last.
func (h *fixture) checkWeek(t *testing.T, first, lastButOne, last string) {
	t.Helper()
	c := readCrontab(t, h.adapted(t, "usertrail-weekly.crontab"))
	if len(c.commands) != 1 {
		t.Fatalf("the crontab has %d lines, want one", len(c.commands))
	}
	bulkload := filepath.Join(h.dir, "bin", "bulkload")
	h.must(t, exec.Command(bulkload, "sample", filepath.Join(h.dir, "demo", "logs"), "--records", "2000", "--days", "7", "--from", first, "--bad", "0"))
	load := func(to string) {
		c := exec.Command(bulkload, "--from", first, "--to", to, "--quiet")
		c.Dir = h.dir
		h.must(t, c)
	}
	load(lastButOne)
	week, stdin := unescape(c.commands[0])
	if r := h.sh(t, week, stdin, c.env); r.status != 66 || stdin != "" || !strings.Contains(r.said, last) {
		t.Errorf("without the last day, the line ended with status %d and said\n%s", r.status, r.said)
	}
	load(last)
	if r := h.sh(t, week, stdin, c.env); r.status != 0 || r.last["events"] == 0.0 {
		t.Errorf("the line ended with status %d and said\n%s", r.status, r.said)
	}
	var m struct {
		Query struct{ Span struct{ From, To string } } `json:"question"`
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(h.dir, "weeks", first, "_manifest.json"))), &m); err != nil {
		t.Fatal(err)
	}
	if s := m.Query.Span; s.From != first || s.To != last {
		t.Errorf("the result is of %s to %s, want %s to %s", s.From, s.To, first, last)
	}
	if r := h.sh(t, week, stdin, c.env); r.status != 0 || r.said != "" {
		t.Errorf("once more, the line ended with status %d and said\n%s", r.status, r.said)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unit returns the values of a key in a unit file.
func unit(text, key string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), key+"="); ok {
			out = append(out, v)
		}
	}
	return out
}

func TestTheServiceLoadsANight(t *testing.T) {
	h := newFixture(t)
	command, env := h.service(t, "usertrail-load.service")
	h.checkNight(t, command, "", env)
}

// service returns the command of a unit of this folder, and the environment that it finds.
func (h *fixture) service(t *testing.T, name string) (command string, env []string) {
	t.Helper()
	h.write(t, "usertrail.environment", readFile(t, "usertrail.environment"))
	return h.serviceOf(t, readFile(t, name))
}

// serviceOf returns the command of the text of a unit, and the environment that it finds. The
// file of the environment is in the fixture.
func (h *fixture) serviceOf(t *testing.T, text string) (command string, env []string) {
	t.Helper()
	text = h.adapt(text)
	start := unit(text, "ExecStart")
	if len(start) != 1 {
		t.Fatalf("the service starts %q", start)
	}
	command, ok := strings.CutPrefix(start[0], "/bin/sh -c '")
	if !ok || !strings.HasSuffix(command, "'") || strings.Count(command, "'") != 1 {
		t.Fatalf("the service starts %q, want one command of /bin/sh in quotes", start[0])
	}
	command = strings.NewReplacer("$$", "$", "%%", "%").Replace(strings.TrimSuffix(command, "'"))
	if strings.Contains(strings.NewReplacer("$$", "", "%%", "").Replace(start[0]), "%") {
		t.Errorf("a single %% is systemd's in %q", start[0])
	}
	if got := unit(text, "EnvironmentFile"); len(got) != 1 || got[0] != "-/etc/usertrail/environment" {
		t.Errorf("the environment is in %q, want the file that the packages install", got)
	}
	env = unit(text, "Environment")
	for line := range strings.Lines(h.adapt(readFile(t, filepath.Join(h.dir, "usertrail.environment")))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	return "cd " + unit(text, "WorkingDirectory")[0] + " && " + command, env
}

// setClock has every command of the fixture see another time: it finds a date before the system's. The
// time is half past two in the zone of the jobs, when the day before has not ended in UTC.
func (h *fixture) setClock(t *testing.T, today string) {
	t.Helper()
	date, err := exec.LookPath("date")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nwhen=\n[ \"$1\" != -d ] || { when=$2; shift 2; }\nexec %s -d \"%s 02:30 +0800 $when\" \"$@\"\n", date, today)
	if err := os.WriteFile(filepath.Join(h.dir, "bin", "date"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
}

// TestASweepLoadsTheNightsThatWereMissed has the machine off for three nights. At the next noon the
// sweep loads all of them, except a day that lacks a required file. When the file arrives, the
// next sweep loads that day. cron and systemd do the same.
func TestASweepLoadsTheNightsThatWereMissed(t *testing.T) {
	for name, sweep := range map[string]func(h *fixture) (string, []string){
		"cron": func(h *fixture) (string, []string) {
			c := readCrontab(t, h.adapted(t, "usertrail.crontab"))
			noon, _ := unescape(c.commands[1])
			return noon, c.env
		},
		"systemd": func(h *fixture) (string, []string) { return h.service(t, "usertrail-sweep.service") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.must(t, exec.Command(filepath.Join(testkit.Commands(t), "bulkload"), "sample", filepath.Join(h.dir, "nights"), "--records", "4000", "--days", "5", "--from", "2024-02-26"))
			deliver := func(day string) {
				h.must(t, exec.Command("cp", "-r", filepath.Join(h.dir, "nights", day), filepath.Join(h.dir, "demo/logs")))
			}
			job := filepath.Join(h.dir, "usertrail.yaml")
			h.write(t, "usertrail.yaml", strings.Replace(readFile(t, job), "  play:\n", "  play:\n    required: true\n", 1))
			command, env := sweep(h)

			h.setClock(t, "2024-02-27")
			deliver("2024-02-26")
			if r := h.sh(t, command, "", env); r.status != 66 || r.last["files"] != 4.0 { // the days before have no logs
				t.Fatalf("the first night ended with status %d:\n%s", r.status, r.said)
			}
			for _, day := range []string{"2024-02-27", "2024-02-28", "2024-02-29"} { // while it is off
				deliver(day)
			}
			late := filepath.Join(h.dir, "demo/logs/2024-02-28/play.csv")
			h.must(t, exec.Command("mv", late, late+".late"))
			h.setClock(t, "2024-03-01")
			r := h.sh(t, command, "", env)
			if days, ok := r.last["days"].(map[string]any); !ok || r.status != 66 || r.last["files"] != 8.0 || days["loaded"] != 2.0 || days["already"] != 1.0 {
				t.Fatalf("after three nights the sweep ended with status %d:\n%s", r.status, r.said)
			}
			h.must(t, exec.Command("mv", late+".late", late))
			h.setClock(t, "2024-03-02")
			if r := h.sh(t, command, "", env); r.last["files"] != 4.0 || r.last["already"] != 12.0 {
				t.Errorf("the next noon ended with status %d:\n%s", r.status, r.said)
			}
		})
	}
}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	dir := t.TempDir()
	var units []string
	for _, name := range []string{"usertrail-load.service", "usertrail-load.timer", "usertrail-sweep.service", "usertrail-sweep.timer"} {
		text := strings.ReplaceAll(readFile(t, name), "User=usertrail", "User=root") // who is on no machine yet
		units = append(units, filepath.Join(dir, name))
		testkit.WriteFile(t, units[len(units)-1], text)
	}
	for _, name := range []string{"usertrail-load.service.d", "usertrail-sweep.service.d"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		testkit.WriteFile(t, filepath.Join(dir, name, "kerberos.conf"), readFile(t, "usertrail.kerberos.conf"))
	}
	out, err := exec.Command(analyze, append([]string{"verify", "--man=no"}, units...)...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("usertrail")) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	for _, when := range append(unit(readFile(t, "usertrail-load.timer"), "OnCalendar"), unit(readFile(t, "usertrail-sweep.timer"), "OnCalendar")...) {
		if out, err := exec.Command(analyze, "calendar", when).CombinedOutput(); err != nil {
			t.Errorf("OnCalendar=%s: %v\n%s", when, err, out)
		}
	}
}
