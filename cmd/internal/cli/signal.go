package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
)

// Signals describes the signals for -h.
const Signals = `Signals:
  INT, TERM, HUP  stop within ten seconds, with status 1; no partial result is visible,
                  and the same command continues from there; nohup disables HUP
  USR1            print on standard error what each worker does, and continue
  QUIT            print the same, and stop
`

// patience is the time that a run has to end by itself after a signal. Then the process
// exits. The next run removes the unfinished files, as after a kill.
const patience = 8 * time.Second

// A stop is the cause of a context that a signal cancelled.
type stop struct{ signal os.Signal }

// Error implements error.
func (s *stop) Error() string { return "stopped by " + signalName(s.signal) }

// Is makes errors.Is(s, context.Canceled) true.
func (s *stop) Is(target error) bool { return target == context.Canceled }

func signalName(s os.Signal) string {
	switch s {
	case os.Interrupt:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	}
	return s.String()
}

// A listener receives the signals of a process.
type listener struct {
	signals chan os.Signal
	cancel  context.CancelCauseFunc
}

type listenerKey struct{}

// A program runs a command line and returns the exit status.
type program = func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// alternate replaces the run of one command line. It returns false if it did nothing. It is
// nil except in builds for tests.
var alternate func(program) bool

// Main runs a program as a process that handles signals. It exits with the program's status.
func Main(run program) {
	if alternate != nil && alternate(run) {
		return
	}
	setUmask()
	ctx, cancel := context.WithCancelCause(context.Background())
	l := &listener{signals: make(chan os.Signal, 16), cancel: cancel}
	signal.Notify(l.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(l.signals, syscall.SIGHUP)
	}
	breakpoint.ReleaseAfter(ctx)
	os.Exit(run(context.WithValue(ctx, listenerKey{}, l), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// hear starts to handle signals if the process has a listener.
func (e *Env) hear(ctx context.Context) {
	l, ok := ctx.Value(listenerKey{}).(*listener)
	if !ok {
		return
	}
	go func() {
		stopped := false
		for s := range l.signals {
			if s == syscall.SIGUSR1 || s == syscall.SIGQUIT {
				e.printWorkers()
			}
			switch {
			case s == syscall.SIGUSR1:
			case !stopped:
				stopped = true
				l.cancel(&stop{s})
				time.AfterFunc(patience, func() { e.endNow(&stop{s}) })
			case s == os.Interrupt: // the second signal: the user does not want to wait
				e.endNow(&stop{s})
			}
		}
	}()
}

// printWorkers prints on standard error what each worker does.
func (e *Env) printWorkers() {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: process %d, %s after its start:\n", e.name, os.Getpid(), time.Since(e.Began).Round(100*time.Millisecond))
	for _, line := range e.board().Lines() {
		fmt.Fprintf(&b, "%s: %s\n", e.name, line)
	}
	out := e.Stderr
	if isTerminal(out) {
		out = progress.Above(out)
	}
	io.WriteString(out, b.String())
}

// An ending is the state of a run that its end needs. The run itself and a signal may both
// want to end it; the ending makes sure that only one writes the last line. Copies of an Env
// share it.
type ending struct {
	mu      sync.Mutex
	done    bool // the last line is written
	status  exit.Status
	running *cobra.Command
	board   progress.Board

	accounts []func(context.Context, *outcome.Outcome) error
	metered  bool                      // metered was called
	refused  func(*cobra.Command) bool // nil without a run log
	known    about
	part     partOf
	named    string        // the table's address in the flag or the job
	patience time.Duration // --retry-for; 0 if it is not given
}

func (s *ending) setPatience(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.patience = d
}

// about describes the table and the logs of a run, as far as they are known.
type about struct {
	address string // of the table
	fs      dfs.FS
	catalog string // directory of the table's catalog
	logs    string // the folder of the job's logs; empty without a job
}

func (s *ending) about() about {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

func (s *ending) setAbout(a about) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = a
}

// table returns the address of the run's table, or "" before a flag or a job names one.
func (s *ending) table() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.known.address, s.named)
}

// setNamed records the table that a flag or a job names. The first name stays.
func (s *ending) setNamed(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named = cmp.Or(s.named, address)
}

// board returns the board on which workers report what they do.
func (e *Env) board() *progress.Board { return &e.shared().board }

func (e *Env) shared() *ending {
	if e.end == nil {
		e.end = new(ending)
	}
	return e.end
}

// endNow exits while the run is unfinished. It writes the last line if the run has not.
func (e *Env) endNow(why error) {
	s := e.shared()
	nothing, reports := e.Nothing(s.running)
	end := e.ended(nothing, why)
	e.account(end, hurriedFor)
	s.mu.Lock() // stays locked, so that the run writes no last line
	if !s.done {
		s.status = exit.Failed
		if reports {
			e.writeReport(end, why)
		}
		if !reports || !e.Streams {
			e.say(why)
		}
	}
	os.Exit(int(s.status))
}

// explain adds the signal to the error of a run that a signal stopped.
func (e *Env) explain(err error) error {
	var s *stop
	var explained *stoppedRun
	if err == nil || e.cause == nil || !errors.As(e.cause(), &s) || errors.As(err, &explained) {
		return err
	}
	switch Status(err) {
	case exit.Failed, exit.NotNow: // the errors of steps that were cancelled
		return &stoppedRun{s, err}
	}
	return err
}

// A stoppedRun is an error that a signal caused.
type stoppedRun struct {
	*stop
	err error
}

func (s *stoppedRun) Error() string {
	if onlyStopped(s.err) {
		return s.stop.Error()
	}
	return s.stop.Error() + ": " + s.err.Error()
}

// onlyStopped reports whether the signal is the only cause of err.
func onlyStopped(err error) bool {
	switch e := err.(type) {
	case *stop:
		return true
	case interface{ Unwrap() error }:
		return onlyStopped(e.Unwrap())
	case interface{ Unwrap() []error }:
		return len(e.Unwrap()) > 0 && !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !onlyStopped(err) })
	}
	return err == context.Canceled
}

func (s *stoppedRun) Unwrap() []error { return []error{s.stop, s.err} }
