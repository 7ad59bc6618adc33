package cli

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/spf13/cobra"

	"usertrail/internal/run/ratelimit"
	"usertrail/internal/table/live"
)

// Bounds limit the requests to HBase.
type Bounds struct {
	Rate     ratelimit.Limits
	InFlight int          // concurrent calls to one server; 0 is the default of the client
	Log      *slog.Logger // reports busy servers; may be nil
}

// Add adds the flags to a command.
func (b *Bounds) Add(c *cobra.Command) {
	p := c.Flags()
	p.Var((*rate)(&b.Rate), "max-rate", "maximum rate of requests to HBase, such as gets=5000/s,puts=20000/s,bytes=50MiB/s (default no limit)")
	p.Var((*inFlight)(&b.InFlight), "in-flight", "maximum number of concurrent calls to one server of HBase (default 6)")
}

// checkFiles refuses --max-rate for a table of files, which has no servers.
func (b Bounds) checkFiles(address string) error {
	if b.Rate != (ratelimit.Limits{}) {
		return fmt.Errorf("%w: --max-rate limits requests to HBase; %s is a table of files: leave out the flag", ErrUsage, address)
	}
	return nil
}

// of copies the bounds to the options of a table in HBase.
func (b Bounds) of(o *live.Options) {
	o.Client.InFlight, o.Client.Limiter, o.Client.Log = b.InFlight, ratelimit.New(b.Rate), b.Log
}

// A rate is the value of --max-rate.
type rate ratelimit.Limits

// String implements pflag.Value.
func (r *rate) String() string { return ratelimit.Limits(*r).String() }

// Set implements pflag.Value.
func (r *rate) Set(s string) error {
	l, err := ratelimit.Parse(s)
	*r = rate(l)
	return err
}

// Type implements pflag.Value.
func (r *rate) Type() string { return "limits" }

// An inFlight is the value of --in-flight.
type inFlight int

// String implements pflag.Value.
func (n *inFlight) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// Set implements pflag.Value.
func (n *inFlight) Set(s string) error {
	i, err := strconv.Atoi(s)
	if err != nil || i < 1 || i > live.MaxInFlight {
		return fmt.Errorf("%q is not a number in 1..%d", s, live.MaxInFlight)
	}
	*n = inFlight(i)
	return nil
}

// Type implements pflag.Value.
func (n *inFlight) Type() string { return "int" }
