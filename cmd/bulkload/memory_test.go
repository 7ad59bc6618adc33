package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/test/testkit"
)

// TestMemoryOfListsIsKept measures commands on many logs with the least memory. Each log adds to a list of the command. An eighth more
// than --memory is allowed, because the runtime's limit is soft and a busy machine collects garbage later.
func TestMemoryOfListsIsKept(t *testing.T) {
	const least, date = 64 << 20, "2014-09-01"
	bin := testkit.Commands(t) // without the race detector, which takes memory of its own
	long := strings.Repeat("z", 4000)
	for name, c := range map[string]struct {
		files int
		path  string
		log   func(b *strings.Builder, file int)
		args  []string
	}{
		"large bad records": {400, "logs/{date}/*.csv", func(b *strings.Builder, file int) {
			for i := range 60 {
				fmt.Fprintf(b, "u%d,%s,play,%s\n", i, map[bool]string{true: "no time", false: date + " 10:00:00"}[i < 50], long[:4000*((59-i)/10)/5])
			}
		}, []string{"--from", date, "--to", date}},
		"days of logs without a day in their path": {3000, "logs/*.csv", func(b *strings.Builder, file int) {
			for i := range 600 {
				fmt.Fprintf(b, "u%d,%s 10:00:00,play,\n", file, time.Date(2014, 9, 1+2*i+file%2, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
			}
		}, []string{"--from", date, "--to", "2014-09-03"}},
		"unknown texts": {1000, "logs/{date}/*.csv", func(b *strings.Builder, file int) {
			fmt.Fprintf(b, "u1,%s 10:00:00,play,\n", date)
			for i := range 1000 {
				fmt.Fprintf(b, "u1,%s 10:00:00,%064d,\n", date, file*1000+i)
			}
		}, []string{"pre-check", "--from", date, "--to", date}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.Scratch(t)
			testkit.WriteFile(t, filepath.Join(dir, "usertrail.yaml"), fmt.Sprintf("logs: {path: '%s', behaviour: kind, max_bad: 100%%, max_skipped: 100%%}\ntable: trails\nbehaviours: {play: {id: 1, fields: {note: string}}}\n", c.path))
			for i := range c.files {
				var b strings.Builder
				b.WriteString("user_id,time,kind,note\n")
				c.log(&b, i)
				testkit.WriteFile(t, filepath.Join(dir, strings.ReplaceAll(strings.ReplaceAll(c.path, "{date}", date), "*", fmt.Sprint(i))), b.String())
			}
			command := exec.Command(filepath.Join(bin, "bulkload"), append(c.args, "--memory", "64MiB", "--workers", "2")...)
			command.Dir, command.Env = dir, testkit.CleanEnv()
			if said, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said[max(0, len(said)-2000):])
			}
			peak := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
			t.Logf("%d MiB", peak>>20)
			if peak > least*9/8 {
				t.Errorf("%d MiB of memory, want at most an eighth more than %d", peak>>20, least>>20)
			}
		})
	}
}
