package faults_test

import (
	"strings"
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/secure/token"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestTokensEndDuringPieces cancels the delegation tokens of a load in pieces: between two pieces, and
// while the commit hands the files over to HBase.
func TestTokensEndDuringPieces(t *testing.T) {
	testkit.OnlyAll(t, "the tests of refused tokens of internal/store/hbase and internal/store/dfs/hdfs")
	t.Parallel()
	c := clustertest.Secure(t)
	one := newSecured(t, c, c.HDFS(t))
	said := start(t, one.dir, one.env(), "bulkload", "--quiet", "--mode", "hfile", "--from", span.From.String(), "--to", (span.From + 1).String()).done(t)

	h := newSecured(t, c, c.HDFS(t))
	alice := h.user
	renew := func() (file string) {
		h.user, file = h.tokens(t, alice, c.ConfDir(), "usertrail.yaml")
		h.user = append(h.user, private)
		return file
	}
	p := h.plan(t, "a load")
	file := renew()
	p.do(t, p.lines[0]).done(t)
	cancel(t, c, file)
	refused(t, p.do(t, p.lines[1]), exitUsage)

	file = renew()
	for _, line := range p.lines[1:] {
		p.do(t, line).done(t)
	}
	commit := p.commit(t, at(breakpoint.Handover, 1))
	commit.awaitStop(t)
	cancel(t, c, file)
	commit.resume(t)
	refused(t, commit, exitFailed) // by HBase, which does not say why
	refused(t, p.commit(t, nowhere), exitUsage)

	renew()
	p.commit(t, nowhere).done(t)
	if got, want := c.Digest(t, h.table), c.Digest(t, one.table); got != want || want.Cells != said.Cells || want.Cells == 0 {
		t.Errorf("the table is %+v, one load makes %+v", got, want)
	}
	start(t, h.dir, h.env(), "bulkload", "verify", "--quiet").done(t)
}

// cancel cancels Alice's token for HDFS in a file.
func cancel(t *testing.T, c *clustertest.Cluster, file string) {
	t.Helper()
	if got := strings.TrimSpace(c.JavaAs(t, clustertest.Alice, "testdata/Cancel.java", file)); got != "1" {
		t.Fatalf("%s tokens for HDFS were cancelled, want 1", got)
	}
}

// refused checks the end of a process whose token a server refuses.
func refused(t *testing.T, p *process, status int) {
	t.Helper()
	if r := p.wait(t); r.status != status || !strings.Contains(r.Error, token.Advice) {
		t.Errorf("%s ended with status %d, want %d and %q: %s", p.name, r.status, status, token.Advice, r.stderr)
	}
}
