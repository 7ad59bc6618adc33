package clustertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// YARN is a ResourceManager and a NodeManager on the cluster's HDFS, the daemons rm
// and nm, in whose containers jobs of MapReduce and Streaming run.
type YARN struct {
	home  string
	local string // where containers have their directories
}

// YARN starts it where it does not run yet; it then stays up as the cluster does.
func (c *Cluster) YARN(t testing.TB) *YARN {
	t.Helper()
	ctx, cancel := limited(t, upLimit) // the jars may have to be fetched
	defer cancel()
	if _, err := c.run(ctx, "yarn"); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(c.dir, "yarn")
	return &YARN{home: home, local: filepath.Join(home, "local")}
}

// Home is what HADOOP_HOME is there: it has bin/hadoop, of which only fs, job, jar and
// the names of classes work, the configuration in etc/hadoop, and all jars in
// share/hadoop/tools/lib.
func (y *YARN) Home() string { return y.home }

// An Attempt is a process that Hadoop Streaming started to do a task.
type Attempt struct {
	PID  int
	Name string // attempt_1795327806903_0001_m_000000_0; the last number counts from 0
}

// Attempts are the processes of a program, given by its name, that run in containers
// now.
func (y *YARN) Attempts(program string) []Attempt {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	var all []Attempt
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if name := y.attempt(dir, program); err == nil && name != "" {
			all = append(all, Attempt{pid, name})
		}
	}
	return all
}

// attempt is the name of the attempt that a process, given by its directory in /proc,
// does; "" if it is none, or not of the program, or has ended.
func (y *YARN) attempt(dir, program string) string {
	work, err := os.Readlink(filepath.Join(dir, "cwd"))
	if err != nil || !strings.HasPrefix(work, y.local+"/") {
		return ""
	}
	file, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil || filepath.Base(file) != program {
		return ""
	}
	environment, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if name, ok := bytes.CutPrefix(variable, []byte("mapreduce_task_attempt_id=")); ok {
			return string(name)
		}
	}
	return ""
}

// Signal sends the attempt's process signals, one after the other. That it has ended
// meanwhile is an error.
func (a Attempt) Signal(signals ...syscall.Signal) error {
	for _, s := range signals {
		if err := syscall.Kill(a.PID, s); err != nil {
			return fmt.Errorf("%s: %s: %w", a.Name, s, err)
		}
	}
	return nil
}
