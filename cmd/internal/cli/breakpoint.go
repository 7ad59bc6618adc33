//go:build breakpoints

package cli

import (
	"fmt"
	"os"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/exit"
)

func init() {
	if err := breakpoint.Arm(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(int(exit.Usage))
	}
}
