package cli

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

const (
	umaskVariable = "USERTRAIL_UMASK"
	// usualMask is added to the umask of the process: logs, tables, quarantine files and results have
	// data about people.
	usualMask = 0o027
)

// umask returns the umask of a process that began with another one. In a directory with a default ACL
// the system follows the ACL, and no umask.
func umask(began int) (int, error) {
	v := os.Getenv(umaskVariable)
	if v == "" {
		return began | usualMask, nil
	}
	n, err := strconv.ParseUint(v, 8, 9)
	if err != nil {
		return began | usualMask, fmt.Errorf("%w: $%s: %q is not an octal number such as 027", ErrUsage, umaskVariable, v)
	}
	return int(n), nil
}

// setUmask sets the umask of the process. New checks the variable.
func setUmask() {
	began := syscall.Umask(usualMask)
	mask, _ := umask(began) // the usual one after an error
	syscall.Umask(mask)
}
