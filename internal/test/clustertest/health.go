package clustertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WaitHealthy waits until all daemons work: HDFS accepts a file on all DataNodes, and every
// region of every table responds. It repairs nothing. If a daemon is dead or frozen, it fails
// at once.
func (c *Cluster) WaitHealthy(ctx context.Context) error {
	return c.until(ctx, nil)
}

// heal does the same as WaitHealthy if a test disturbed a daemon. It also starts dead daemons
// and thaws frozen ones. It kills and starts a frozen RegionServer: for HBase it may be dead, and after a thaw
// it would try for five minutes to write to a log that another server has taken over.
func (c *Cluster) heal(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.disturbed {
		return nil
	}
	if err := c.until(ctx, c.mend); err != nil {
		return err
	}
	c.disturbed = false
	return nil
}

func (c *Cluster) mend(ctx context.Context, e *notRunning) error {
	for _, name := range e.frozen {
		command := "thaw"
		if strings.HasPrefix(name, "rs") {
			command = "kill"
		}
		if _, err := c.run(ctx, command, name); err != nil {
			return err
		}
	}
	for _, name := range e.dead {
		if _, err := c.run(ctx, "start", name); err != nil {
			return err
		}
	}
	return nil
}

// until checks repeatedly. Between two checks, mend may repair daemons that do not run.
// Without mend such daemons end the wait.
func (c *Cluster) until(ctx context.Context, mend func(context.Context, *notRunning) error) error {
	last := errors.New("there was no time to look")
	for {
		err := c.running(ctx)
		if err == nil {
			err = c.working(ctx)
		}
		if err == nil {
			return nil
		}
		if down, ok := errors.AsType[*notRunning](err); ok {
			if mend == nil {
				return err
			}
			err = errors.Join(err, mend(ctx, down))
		}
		if ctx.Err() == nil { // an interrupted check proves nothing
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not healthy: %w: %w; its logs are in %[1]s/log", c.dir, context.Cause(ctx), last)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// notRunning holds the names of daemons that are not up.
type notRunning struct {
	dead, frozen []string
}

func (e *notRunning) Error() string {
	return fmt.Sprintf("dead: %q, frozen: %q", e.dead, e.frozen)
}

// running checks the processes.
func (c *Cluster) running(ctx context.Context) error {
	out, err := c.run(ctx, "status")
	if err != nil {
		return err
	}
	var down notRunning
	for line := range strings.Lines(out) {
		word := strings.Fields(line)
		switch {
		case len(word) < 3:
			return fmt.Errorf("scripts/cluster status: %q is not understood", line)
		case word[2] == "dead":
			down.dead = append(down.dead, word[0])
		case word[2] == "frozen":
			down.frozen = append(down.frozen, word[0])
		}
	}
	if len(down.dead)+len(down.frozen) > 0 {
		return &down
	}
	return nil
}

// working checks that the daemons work.
func (c *Cluster) working(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	if err := c.checkNameNode(ctx); err != nil {
		return err
	}
	for _, d := range c.DataNodes() {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.Address)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		conn.Close()
	}
	_, err := c.Ask(ctx, "healthy", strconv.Itoa(c.regionServers), strconv.Itoa(c.replication))
	return err
}

// checkNameNode requests the bean that the NameNode's web page shows.
func (c *Cluster) checkNameNode(ctx context.Context) error {
	url := "http://" + c.net + ".0.1:9870/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("nn: %w", err)
	}
	defer reply.Body.Close()
	var status struct {
		Beans []struct {
			FSState           string
			NumLiveDataNodes  int
			NumStaleDataNodes int
		} `json:"beans"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&status); err != nil {
		return fmt.Errorf("nn: %s: %w", url, err)
	}
	if len(status.Beans) != 1 {
		return errors.New("nn: does not know its state yet")
	}
	if s := status.Beans[0]; s.FSState != "Operational" || s.NumLiveDataNodes != c.datanodes || s.NumStaleDataNodes != 0 {
		return fmt.Errorf("nn: %s, %d of %d DataNodes live, %d stale", s.FSState, s.NumLiveDataNodes, c.datanodes, s.NumStaleDataNodes)
	}
	return nil
}
