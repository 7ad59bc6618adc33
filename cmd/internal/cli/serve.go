//go:build breakpoints

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/exit"
)

// serveVariable is the environment variable that makes a program run serve.
const serveVariable = "USERTRAIL_SERVE"

// A Call is one command line for serve.
type Call struct {
	Dir   string            `json:"dir"` // the working directory
	Args  []string          `json:"args"`
	Env   map[string]string `json:"env"` // added to the process's own; all calls set the same names
	Stdin string            `json:"stdin,omitempty"`
}

// A Reply is the outcome of a Call.
type Reply struct {
	Status int    `json:"status"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

func init() { alternate = serve }

// serve reads Calls from standard input, one per line. It runs each as a separate process
// would, and writes a Reply for each to standard output. Tests run thousands of command lines
// in the time that starting some hundred processes takes. serve returns false if
// serveVariable is not set.
func serve(run program) bool {
	if os.Getenv(serveVariable) == "" {
		return false
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var c Call
		err := in.Decode(&c)
		if errors.Is(err, io.EOF) {
			return true
		}
		if err == nil {
			err = out.Encode(c.reply(run))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "serve:", err)
			os.Exit(int(exit.Failed))
		}
	}
}

func (c *Call) reply(run program) Reply {
	if err := c.settle(); err != nil {
		return Reply{Status: -1, Stderr: err.Error()}
	}
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), c.Args, strings.NewReader(c.Stdin), &stdout, &stderr)
	return Reply{status, stdout.String(), stderr.String()}
}

// settle sets the environment and the working directory of the call.
func (c *Call) settle() error {
	for name, value := range c.Env {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if err := breakpoint.Arm(); err != nil {
		return err
	}
	return os.Chdir(c.Dir)
}
