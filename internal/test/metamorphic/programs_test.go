package metamorphic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/test/testkit"
)

// Programs are the two commands. They are built with -tags breakpoints and run as processes
// that serve: see cmd/internal/cli. A process executes one command line after the other, so a
// command has no start-up cost. The process can be stopped and killed like any other.
type programs struct {
	bin     string
	scratch string // for the directories of runs
	t       testing.TB

	mu        sync.Mutex
	idle      map[string][]*server
	all       []*server
	fakeHBase *hbasetest.Quorum
	real      *realCluster // nil if there is none
}

// hbase is an HBase in memory, which the first sequence that needs it starts.
func (p *programs) hbase() *hbasetest.Quorum {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fakeHBase == nil {
		p.fakeHBase = hbasetest.NewQuorum(p.t, p.scratch)
	}
	return p.fakeHBase
}

func newPrograms(t testing.TB) *programs {
	t.Helper()
	bin := *commands
	if bin == "" {
		bin = testkit.Commands(t)
	}
	p := &programs{bin: bin, scratch: testkit.Scratch(t), t: t, idle: map[string][]*server{}}
	t.Cleanup(p.end)
	return p
}

func TestMain(m *testing.M) { testkit.Main(m) }

// A call and a reply are the lines that a process reads and writes.
type call struct {
	Dir   string            `json:"dir"`
	Args  []string          `json:"args"`
	Env   map[string]string `json:"env"`
	Stdin string            `json:"stdin,omitempty"`
}

type reply struct {
	Status int    `json:"status"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// killed is the status of a command that was killed.
const killed = -1

// A server is a process that runs command lines.
type server struct {
	program string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	out     *json.Decoder
	stderr  bytes.Buffer
}

// take returns an idle process.
func (p *programs) take(program string) (*server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.idle[program]; len(list) > 0 {
		p.idle[program] = list[:len(list)-1]
		return list[len(list)-1], nil
	}
	s, err := p.launch(program)
	if err == nil {
		p.all = append(p.all, s)
	}
	return s, err
}

// launch starts an idle process.
func (p *programs) launch(program string) (*server, error) {
	s := &server{program: program, cmd: exec.Command(filepath.Join(p.bin, program))}
	s.cmd.Env = append(testkit.CleanEnv(), "USERTRAIL_SERVE=yes", "GOMAXPROCS=2")
	s.cmd.Stderr = &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	s.out = json.NewDecoder(out)
	return s, s.cmd.Start()
}

// release makes s idle again.
func (p *programs) release(s *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[s.program] = append(p.idle[s.program], s)
}

// end ends all processes.
func (p *programs) end() {
	for _, s := range p.all {
		s.kill()
	}
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()         // its status is the status of a killed process
}

// A running is a command that has not ended.
type running struct {
	p     *programs
	s     *server
	ended chan struct{}
	got   reply
	err   error

	alone bool  // the process runs nothing else
	peak  int64 // the largest resident set at the end, in bytes, if alone
}

// startAlone starts a command line in its own process, whose memory is measured.
func (p *programs) startAlone(program string, c call) (*running, error) {
	s, err := p.launch(program)
	if err != nil {
		return nil, err
	}
	return p.on(s, c, true)
}

// start starts a command line.
func (p *programs) start(program string, c call) (*running, error) {
	s, err := p.take(program)
	if err != nil {
		return nil, err
	}
	return p.on(s, c, false)
}

func (p *programs) on(s *server, c call, alone bool) (*running, error) {
	r := &running{p: p, s: s, ended: make(chan struct{}), alone: alone}
	if err := json.NewEncoder(s.stdin).Encode(c); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", s.program, err, s.stderr.String())
	}
	go func() {
		defer close(r.ended)
		r.err = s.out.Decode(&r.got)
	}()
	return r, nil
}

// stops waits until the command stops at its step, and reports false if it ends before.
func (r *running) stops() bool { return testkit.AwaitStop(r.s.cmd.Process.Pid, r.ended) }

// wait returns the outcome of the command.
func (r *running) wait() (reply, error) {
	select {
	case <-r.ended:
	case <-time.After(10 * time.Minute):
		_ = r.s.cmd.Process.Signal(syscall.SIGQUIT)
		return reply{}, fmt.Errorf("%s has not ended after ten minutes\n%s", r.s.program, r.s.stderr.String())
	}
	if r.err != nil {
		r.s.kill()
		return reply{}, fmt.Errorf("%s ended in the middle: %w\n%s", r.s.program, r.err, r.s.stderr.String())
	}
	if r.alone {
		r.kill()
		return r.got, r.err
	}
	r.p.release(r.s)
	return r.got, nil
}

// kill kills the command.
func (r *running) kill() {
	var err error
	if r.alone {
		r.peak, err = testkit.PeakMemory(r.s.cmd.Process.Pid)
	}
	r.s.kill()
	<-r.ended
	r.err = err
}

// goOn continues a stopped command.
func (r *running) goOn() error { return r.s.cmd.Process.Signal(syscall.SIGCONT) }

// Steps at which commands are stopped.
var (
	putSteps     = []string{breakpoint.Read, breakpoint.Batch, breakpoint.Put, breakpoint.Put, breakpoint.Commit, breakpoint.Ledger, breakpoint.Loaded}
	handSteps    = []string{breakpoint.Read, breakpoint.Segment, breakpoint.Handover, breakpoint.Handover, breakpoint.Handed, breakpoint.Commit}
	loadSteps    = []string{breakpoint.Begun, breakpoint.Read, breakpoint.Batch, breakpoint.Segment, breakpoint.Commit, breakpoint.Ledger, breakpoint.Loaded}
	extractSteps = []string{breakpoint.Begun, breakpoint.Fetch, breakpoint.Part, breakpoint.Publish, breakpoint.Published}
)
