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

// YARN is a ResourceManager and a NodeManager on the cluster's HDFS, the daemons rm and nm.
// Jobs of MapReduce and Streaming run in their containers. In a secured cluster, too, all
// containers run as the operating system's user of the NodeManager.
type YARN struct {
	home  string
	local string // the directory of containers
	logs  string // of containers
}

// YARN starts YARN if it does not run yet. It then stays up like the cluster.
func (c *Cluster) YARN(t testing.TB) *YARN {
	t.Helper()
	ctx, cancel := limited(t, upLimit) // the jars may have to be downloaded
	defer cancel()
	if _, err := c.run(ctx, "yarn"); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(c.dir, "yarn")
	return &YARN{home: home, local: filepath.Join(home, "local"), logs: filepath.Join(c.dir, "log", "containers")}
}

// Home returns a HADOOP_HOME. It has bin/hadoop, which supports only fs, job, jar and class
// names, the configuration in etc/hadoop, and all jars in share/hadoop/tools/lib.
func (y *YARN) Home() string { return y.home }

// Logs returns the directory of the logs of a job's containers.
func (y *YARN) Logs(job string) string {
	return filepath.Join(y.logs, "application_"+strings.TrimPrefix(job, "job_"))
}

// An Attempt is a process that Hadoop Streaming started for a task.
type Attempt struct {
	PID  int
	Name string // attempt_1795327806903_0001_m_000000_0; the last number counts from 0
}

// Attempts returns the running processes of a program, given by its name, in containers.
func (y *YARN) Attempts(program string) []Attempt {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	var all []Attempt
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if name := y.attempt(dir, program); err == nil && name != "" {
			all = append(all, Attempt{pid, name})
		}
	}
	return all
}

// attempt returns the name of the attempt of a process, given by its directory in /proc. It
// returns "" if the process is not an attempt, does not run the program, or has ended.
func (y *YARN) attempt(dir, program string) string {
	work, err := os.Readlink(filepath.Join(dir, "cwd"))
	if err != nil || !strings.HasPrefix(work, y.local+"/") {
		return ""
	}
	file, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil || filepath.Base(file) != program {
		return ""
	}
	variables, err := environment(dir)
	if err != nil {
		return ""
	}
	return variables["mapreduce_task_attempt_id"]
}

// environment returns the variables of a process, given by its directory in /proc.
func environment(dir string) (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for variable := range bytes.SplitSeq(b, []byte{0}) {
		name, value, _ := bytes.Cut(variable, []byte("="))
		all[string(name)] = string(value)
	}
	return all, nil
}

// Environment returns the variables of the attempt's process.
func (a Attempt) Environment() (map[string]string, error) {
	return environment(filepath.Join("/proc", strconv.Itoa(a.PID)))
}

// Signal sends signals to the attempt's process, one after the other. It returns an error if
// the process has ended.
func (a Attempt) Signal(signals ...syscall.Signal) error {
	for _, s := range signals {
		if err := syscall.Kill(a.PID, s); err != nil {
			return fmt.Errorf("%s: %s: %w", a.Name, s, err)
		}
	}
	return nil
}
