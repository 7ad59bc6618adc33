package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Daemon is a process of the cluster.
type Daemon struct {
	Name    string // zk nn dn1.. master rs1.., and kdc if it is secured
	Address string // host and port of its RPC, or of a DataNode's transfers
}

// RegionServers returns rs1, rs2 and so on.
func (c *Cluster) RegionServers() []Daemon {
	return c.numbered("rs", c.regionServers, ".0.1%d:16020")
}

// DataNodes returns dn1, dn2 and so on.
func (c *Cluster) DataNodes() []Daemon {
	return c.numbered("dn", c.datanodes, ".0.2%d:9866")
}

func (c *Cluster) numbered(kind string, n int, address string) []Daemon {
	all := make([]Daemon, n)
	for i := range all {
		all[i] = Daemon{fmt.Sprintf("%s%d", kind, i+1), c.net + fmt.Sprintf(address, i+1)}
	}
	return all
}

// A test that calls one of these methods must have exclusive use of the cluster.

// Kill ends a daemon by SIGKILL, and returns when the process has ended.
func (c *Cluster) Kill(t testing.TB, name string) { c.control(t, "kill", name) }

// Freeze stops a daemon by SIGSTOP. It keeps its connections and does not respond.
func (c *Cluster) Freeze(t testing.TB, name string) { c.control(t, "freeze", name) }

// Thaw continues a frozen daemon.
func (c *Cluster) Thaw(t testing.TB, name string) { c.control(t, "thaw", name) }

// Start starts a dead daemon. WaitHealthy waits until it works.
func (c *Cluster) Start(t testing.TB, name string) { c.control(t, "start", name) }

// Restart stops a daemon in an orderly way and starts it again. WaitHealthy waits until it
// works.
func (c *Cluster) Restart(t testing.TB, name string) { c.control(t, "restart", name) }

func (c *Cluster) control(t testing.TB, command, name string) {
	t.Helper()
	if !c.claim.alone {
		t.Fatalf("clustertest: who does %s to a daemon asks for the cluster by Alone or SecureAlone", command)
	}
	c.mu.Lock()
	c.disturbed = true
	c.mu.Unlock()
	ctx, cancel := limited(t, callLimit)
	defer cancel()
	if _, err := c.run(ctx, command, name); err != nil {
		t.Fatal(err)
	}
}

// Java runs the main class of a source file on HBase's class path, with the cluster's
// configuration, and returns its standard output. It may run while regions are reassigned.
func (c *Cluster) Java(t testing.TB, file string, args ...string) string {
	t.Helper()
	return c.JavaAs(t, "admin", file, args...)
}

// JavaAs is Java in a secured cluster, with a user's ticket.
func (c *Cluster) JavaAs(t testing.TB, user, file string, args ...string) string {
	t.Helper()
	ctx, cancel := limited(t, healLimit+callLimit)
	defer cancel()
	cmd := c.command(ctx, append([]string{"java", file}, args...)...)
	cmd.Env = append(cmd.Env, "CLUSTER_AS="+user)
	out, err := c.output(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// run runs scripts/cluster and returns its standard output.
func (c *Cluster) run(ctx context.Context, args ...string) (string, error) {
	return c.output(c.command(ctx, args...))
}

// output runs a command and returns its standard output.
func (c *Cluster) output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("scripts/cluster %s in %s: %w\n%s", strings.Join(cmd.Args[1:], " "), c.dir, err, stderr.Bytes())
	}
	return stdout.String(), nil
}

// command returns scripts/cluster. It is ended by SIGTERM so that it can clean up. The
// servers that it starts live only for some tests, so they compile little.
func (c *Cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.script, args...)
	cmd.Env = append(append(os.Environ(), "CLUSTER_DIR="+c.dir, "CLUSTER_LIGHT=yes", "CLUSTER_WAIT=600"), c.settings...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
