package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/run/breakpoint"
)

// TestWhatIsSpilledIsPrivate stops a load with --temp that has sorted its records, and kills
// it. The next load removes the directory of the killed load and its own.
func TestWhatIsSpilledIsPrivate(t *testing.T) {
	dir := sampleDays(t, "400")
	temp := filepath.Join(dir, "temp")
	if err := os.Mkdir(temp, 0o777); err != nil {
		t.Fatal(err)
	}
	before := syscall.Umask(0)
	p := loads(t, dir, scripttest.At(breakpoint.Batch, 1), "killed", "--temp", temp)
	syscall.Umask(before)
	p.Stops(t)
	list, err := os.ReadDir(temp)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v; want one folder", list, err)
	}
	if fi, err := list[0].Info(); err != nil || fi.Mode() != os.ModeDir|0o700 {
		t.Errorf("%s is %v, %v; want the mode 0700", list[0].Name(), fi.Mode(), err)
	}
	beside := loads(t, dir, nil, "beside", "--temp", temp)
	if status, last := beside.Wait(t); status != 0 {
		t.Errorf("a load beside it: status %d: %v", status, last)
	}
	if list, err := os.ReadDir(temp); err != nil || len(list) != 1 {
		t.Errorf("after a load beside it there is %v, %v; want the folder of the one that stands still", list, err)
	}
	p.GoOn(t, syscall.SIGKILL)
	p.Wait(t)
	next := loads(t, dir, nil, "killed", "--temp", temp)
	if status, last := next.Wait(t); status != 0 {
		t.Errorf("the next load: status %d: %v", status, last)
	}
	if list, err := os.ReadDir(temp); err != nil || len(list) > 0 {
		t.Errorf("after the next load there is %v, %v; want nothing", list, err)
	}
}
