package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
)

const (
	// accountFor is the time limit of the functions of AtEnd. hurriedFor is their limit if
	// the process must end now.
	accountFor = 10 * time.Second
	hurriedFor = time.Second
)

// AtEnd makes the run call f at its end, before the last line is written. An error of f is
// printed as a warning; it does not make the run fail.
func (e *Env) AtEnd(f func(ctx context.Context, end *outcome.Outcome) error) {
	s := e.shared()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts = append(s.accounts, f)
}

// account calls the functions of AtEnd once.
func (e *Env) account(end *outcome.Outcome, within time.Duration) {
	s := e.shared()
	s.mu.Lock()
	accounts, patience := s.accounts, s.patience
	s.accounts = nil
	s.mu.Unlock()
	if len(accounts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if patience > 0 {
		ctx = dfs.WithPatience(ctx, patience)
	}
	done := make(chan error, len(accounts))
	go func() {
		for _, f := range accounts {
			done <- f(ctx, end)
		}
	}()
	for range accounts {
		select {
		case err := <-done:
			if err != nil {
				e.warn(err)
			}
		case <-ctx.Done():
			e.warn(fmt.Errorf("the metrics and records of this run are incomplete: %w", ctx.Err()))
			return
		}
	}
}

// warn prints an error that does not make the run fail.
func (e *Env) warn(err error) {
	fmt.Fprintf(e.Stderr, "%s: warning: %v\n", e.name, err)
}

// Outcome prints the first line of a summary, which cron mails: what ran, its exit status
// and its duration.
func (e *Env) Outcome(what string, err error) {
	err = e.explain(err)
	took := time.Since(e.Began).Round(100 * time.Millisecond)
	text, _, more := strings.Cut(text(err), "\n")
	if more {
		text += " …"
	}
	switch s := Status(err); s {
	case exit.OK:
		fmt.Fprintf(e.Stdout, "done        %s, in %s\n", what, took)
	case exit.Nothing:
		fmt.Fprintf(e.Stdout, "status %-4d %s: %s\n", s, what, text)
	default:
		fmt.Fprintf(e.Stdout, "status %-4d %s failed after %s: %s\n", s, what, took, text)
	}
}

// Host returns the name of this machine.
func Host() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return host
}
