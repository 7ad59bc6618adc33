//go:build breakpoints

package cli

import (
	"fmt"
	"os"

	"usertrail/internal/run/breakpoint"
)

func init() {
	if err := breakpoint.Arm(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(Usage)
	}
}
