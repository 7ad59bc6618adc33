package streaming_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/secure/token"
	"usertrail/internal/test/clustertest"
)

// newSecured returns a fixture on the secured cluster. Its programs and its Hadoop have Alice's
// ticket.
func newSecured(t *testing.T) *fixture {
	c := clustertest.Secure(t)
	dir := t.TempDir()
	build(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	return onCluster(t, c, c.FilesOf(clustertest.Alice), dir, "KRB5_CONFIG="+c.Krb5Conf(),
		"KRB5CCNAME=FILE:"+c.TicketCache(clustertest.Alice), "TMPDIR="+filepath.Join(dir, "tmp"))
}

// granted is live with the rights of a user who loads HFiles.
func (w *fixture) granted(t *testing.T, name string) (job, table string) {
	t.Helper()
	job, table = w.live(t, name)
	w.c.Admin(t, "grant", clustertest.Alice, "RC", table)
	return job, table
}

// allowed runs a program until the RegionServers, which ZooKeeper informs of rights with some
// delay, let the user in.
func (w *fixture) allowed(t *testing.T, name string, args ...string) {
	t.Helper()
	p := w.program(t, name, args...)
	for end := time.Now().Add(limit); strings.Contains(p.said(), "permission denied") && time.Now().Before(end); {
		p = w.program(t, name, args...)
	}
	p.ends(0)
}

// said returns all that the process has printed when it has ended.
func (p *process) said() string {
	<-p.ended
	return p.stdout.String() + p.stderr.String()
}

// TestPiecesOnASecuredYARN loads HFiles into HBase and extracts them, as a user with the least
// rights. The containers have delegation tokens, and neither a keytab nor a ticket.
func TestPiecesOnASecuredYARN(t *testing.T) {
	w := newSecured(t)
	one, table := w.granted(t, "one")
	many, tableOfMany := w.granted(t, "many")
	hfiles := append([]string{"--mode", "hfile"}, span...)
	w.allowed(t, "bulkload", append([]string{one}, hfiles...)...)
	w.allowed(t, "bulkload", append([]string{"pre-check", many}, hfiles...)...)
	w.withoutATicket(t, append([]string{"load", many}, hfiles...))

	last := w.byTokens(t, "bulkload", breakpoint.Segment, append([]string{"load", many, "--piece-size", "1600KiB"}, hfiles...)...)
	if n, _ := last["pieces"].(float64); n < 3 {
		t.Errorf("the load has %v pieces, want some", last["pieces"])
	}
	if got, want := w.c.Digest(t, tableOfMany), w.c.Digest(t, table); got != want || want.Cells == 0 {
		t.Errorf("the table is %+v, one process makes %+v", got, want)
	}

	query := func(job, out string) []string {
		return append([]string{job, "--users", "all", "--active", "any", "--types", "play,order", "--out", w.hdfs + "/" + out, "--piece-size", "30000"}, span...)
	}
	w.program(t, "extract", query(one, "out-one")...).ends(0)
	w.byTokens(t, "extract", breakpoint.Part, append([]string{"extract"}, query(many, "out-many")...)...)
	want := w.digests(t, w.hdfs+"/out-one", ".parquet")
	if got := w.digests(t, w.hdfs+"/out-many", ".parquet"); len(want) < 2 || !maps.Equal(got, want) {
		t.Errorf("the parts are %v, one process makes %v", got, want)
	}
}

// withoutATicket checks what a user hears who has only a keytab, which Hadoop's clients do not read.
func (w *fixture) withoutATicket(t *testing.T, args []string) {
	t.Helper()
	plain := w.env
	w.env = append(slices.Clone(plain), "KRB5CCNAME=FILE:"+w.dir+"/none", "USERTRAIL_KEYTAB="+w.c.Keytab(clustertest.Alice))
	last := w.onyarn(t, args...).ends(75)
	w.env = plain
	if !strings.Contains(fmt.Sprint(last["error"]), "run kinit") {
		t.Errorf("without a ticket the error is %q", last["error"])
	}
}

// byTokens does a job whose containers find neither a ticket nor a configuration of Kerberos. An
// attempt stops at a step, and its process is checked. No secret may be in the output, in the logs
// of the containers or on a command line.
func (w *fixture) byTokens(t *testing.T, program, step string, args ...string) map[string]any {
	t.Helper()
	p := w.onyarn(t, append(args, "-D", stopping(step)+",KRB5_CONFIG=/none,KRB5CCNAME=/none")...)
	a := p.signalAtStep(program)
	passwords := w.hasOnlyTokens(t, a)
	noneOnCommandLines(t, passwords)
	if err := a.Signal(syscall.SIGUSR2, syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	last := p.ends(0)
	said := p.said()
	for _, secret := range append(w.c.Secrets(t), passwords...) {
		if strings.Contains(said, string(secret)) {
			t.Errorf("%s prints a secret", p.name)
		}
	}
	logs := p.y.Logs(regexp.MustCompile(`job_\d+_\d+`).FindString(said))
	if all, _ := filepath.Glob(logs + "/*/stderr"); len(all) < 2 { // the pattern is valid
		t.Errorf("the containers have the logs %v in %s", all, logs)
	}
	w.c.HasNoSecret(t, logs, passwords...)
	if left, err := os.ReadDir(filepath.Join(w.dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("%s leaves %v, %v", p.name, left, err)
	}
	return last
}

// hasOnlyTokens checks the credentials of an attempt, and returns the passwords of its tokens.
func (w *fixture) hasOnlyTokens(t *testing.T, a clustertest.Attempt) [][]byte {
	t.Helper()
	variables, err := a.Environment()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"KRB5_CONFIG": "/none", "KRB5CCNAME": "/none", "USERTRAIL_KEYTAB": ""} {
		if variables[name] != want {
			t.Errorf("%s has %s=%s, want %q", a.Name, name, variables[name], want)
		}
	}
	tokens, err := token.Load(variables[token.Variable])
	if err != nil {
		t.Fatal(err)
	}
	var passwords [][]byte
	owners := map[string]string{}
	for _, tok := range tokens {
		if o, err := tok.Owner(); err == nil {
			owners[tok.Kind] = o.User
		}
		passwords = append(passwords, tok.Password, []byte(hex.EncodeToString(tok.Password)))
	}
	alice := clustertest.Alice + "@" + clustertest.Realm
	if want := map[string]string{token.HDFS: alice, token.HBase: alice}; !maps.Equal(owners, want) {
		t.Errorf("%s has tokens %v, want %v", a.Name, owners, want)
	}
	files, _ := filepath.Glob(filepath.Join(w.dir, "tmp", "*", "tokens")) // the pattern is valid
	if len(files) != 1 {
		t.Fatalf("onyarn has the tokens in %v", files)
	}
	for name, want := range map[string]os.FileMode{files[0]: 0o600, filepath.Dir(files[0]): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want the mode %v", name, info.Mode(), err, want)
		}
	}
	return passwords
}

// noneOnCommandLines checks the command lines of all processes of the machine.
func noneOnCommandLines(t *testing.T, secrets [][]byte) {
	t.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, name := range lines {
		line, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		for _, secret := range secrets {
			if bytes.Contains(line, secret) {
				t.Errorf("%s holds a secret", name)
			}
		}
	}
}
