//go:build breakpoints

package command

import (
	"fmt"
	"os"

	"usertrail/internal/breakpoint"
)

func init() {
	if err := breakpoint.Arm(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(Usage)
	}
}
