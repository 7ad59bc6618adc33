package hbase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"usertrail/internal/run/pipe"
	"usertrail/internal/store/hbase/rpc"
)

// A retryState counts the attempts and the time of one action, call or step so far. It
// names the region and server of the last attempt.
type retryState struct {
	what     string // for the message: "get", "scan from \"0042\""
	table    string
	region   string
	server   string
	attempts int
	spent    time.Duration // in calls and pauses, without the wait for a place in the window
	repeats  int           // attempts that failed in an unknown way
	denied   int           // attempts that the server denied
	moved    int           // attempts at which the region was elsewhere
	lost     int           // attempts that may have been executed

	throttled int  // attempts for which a quota left no room
	held      bool // the last attempt failed because the server is too busy
}

// after counts a failed attempt. It returns the pause before the next attempt, or the
// error that ends the retries.
func (e *retryState) after(c *Client, took time.Duration, v verdict) (time.Duration, error) {
	e.attempts++
	e.spent += took
	if errors.Is(v.err, rpc.ErrUnknownOutcome) {
		e.lost++
	}
	if v.throttled {
		e.throttled++
	}
	e.held = v.remedy == ease
	wait := v.wait
	switch v.remedy {
	case giveUp:
		return 0, e.refused(c, v)
	case check:
		if e.repeats++; e.repeats > 1 {
			return 0, e.refused(c, v)
		}
	case ask:
		if e.denied++; e.denied > maxAsks {
			return 0, e.refused(c, v)
		}
		wait += backoff(e.denied)
	case repeat:
		if e.repeats++; e.repeats >= maxRepeats {
			return 0, e.gaveUp(v)
		}
		wait += backoff(e.repeats)
	case relocate:
		if e.moved++; e.moved > 1 {
			wait += backoff(e.moved - 1)
		}
	case divide:
		if e.attempts > 1 {
			wait += backoff(e.attempts - 1)
		}
	default:
		wait += backoff(e.attempts)
	}
	left := c.cfg.OpTimeout - e.spent
	if left <= 0 {
		return 0, e.gaveUp(v)
	}
	wait = min(wait, left) // the last attempt is at the end of the budget
	e.spent += wait
	return wait, nil
}

// pauseAfter calls after and then pauses.
func (e *retryState) pauseAfter(ctx context.Context, c *Client, took time.Duration, v verdict) error {
	wait, err := e.after(c, took, v)
	if err != nil {
		return err
	}
	return e.sleep(ctx, c, wait)
}

// sleep pauses before the next attempt.
func (e *retryState) sleep(ctx context.Context, c *Client, wait time.Duration) error {
	if e.held {
		defer c.overload.waiting.Start()()
	}
	return pipe.Sleep(ctx, wait)
}

// refused returns the error of a failure that no retry solves.
func (e *retryState) refused(c *Client, v verdict) error {
	where := ""
	if e.region != "" {
		where = ", region " + e.region
	}
	if e.server != "" {
		where += " on " + e.server
	}
	if e.table == "" {
		return fmt.Errorf("%s%s as user %s: %w", e.what, where, c.cfg.User, v.err)
	}
	return fmt.Errorf("%s, table %s%s as user %s: %w", e.what, e.table, where, c.cfg.User, v.err)
}

func (e *retryState) gaveUp(v verdict) error {
	return &GaveUpError{
		What: e.what, Table: e.table, Region: e.region, Server: e.server,
		Attempts: e.attempts, Spent: e.spent, MayPass: v.remedy.mayPass(), Err: v.err,
	}
}
