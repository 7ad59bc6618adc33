package hdfs

import (
	"os"
	"os/exec"
	"testing"
)

// TestFates distinguishes running processes, dead ones, and processes of other machines.
func TestFates(t *testing.T) {
	self := processOf("go-hdfs-1")
	if self == nil {
		t.Skip("this system does not tell")
	}
	if again, ok := parseProcess(self.String()); !ok || again != *self {
		t.Errorf("%q is read as %+v, %t", self, again, ok)
	}
	for _, bad := range []string{"", "process 12", "a -1 2 b c", self.String() + " more"} {
		if p, ok := parseProcess(bad); ok {
			t.Errorf("%q is read as %+v", bad, p)
		}
	}
	child := exec.Command(os.Args[0], "-test.run=^$")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	killed := *self
	killed.id = child.Process.Pid
	if killed.began, err = began(killed.id); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	earlier, elsewhere, rebooted := *self, *self, *self
	earlier.began, elsewhere.space, rebooted.boot = "1", "pid:[1]", "another"
	for what, x := range map[string]struct {
		p    process
		want fate
	}{
		"this process":                     {*self, running},
		"a process that was killed":        {killed, dead},
		"a process of this number, before": {earlier, dead},
		"a process of another namespace":   {elsewhere, unknown},
		"a process of another boot":        {rebooted, unknown},
	} {
		if got := x.p.fate(); got != x.want {
			t.Errorf("%s: %d, want %d", what, got, x.want)
		}
	}
}
