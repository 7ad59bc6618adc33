package clustertest

import (
	"os/exec"
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// hadoop runs the command of a home, and returns its standard output.
func hadoop(t *testing.T, y *YARN, args ...string) string {
	t.Helper()
	ctx, cancel := limited(t, callLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, y.Home()+"/bin/hadoop", args...).Output()
	if err != nil {
		t.Fatalf("hadoop %q: %v", args, err)
	}
	return string(out)
}

func TestYARNComesBackWithTheCluster(t *testing.T) {
	testkit.OnlyAll(t, "jobs/streaming, whose jobs run there")
	c := Alone(t)
	dir := c.HDFS(t)
	y := c.YARN(t)
	if out := hadoop(t, y, "fs", "-ls", dir+"/.."); !strings.Contains(out, dir) {
		t.Errorf("the command hadoop sees %q, without %s", out, dir)
	}
	if all := y.Attempts("bulkload"); len(all) > 0 {
		t.Errorf("nothing was started, and there is %v", all)
	}
	c.Kill(t, "nm")
	y = Alone(t).YARN(t)
	if out := hadoop(t, y, "job", "-list-active-trackers"); !strings.Contains(out, c.net+".0.31") {
		t.Errorf("after the NodeManager was killed the trackers are %q", out)
	}
}
