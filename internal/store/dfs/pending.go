package dfs

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// maxBase is the number of bytes of a file's name that its temporary name keeps. It
// prevents a temporary name that is too long for a file whose own name is not.
const maxBase = 200

var pendingName = regexp.MustCompile(`^\..*\.[0-9a-f]{16}\.tmp$`)

// PendingName returns a new temporary name for a file called base while it is
// being written: ".part-00000.parquet.1f0c6b62d1a0e9f4.tmp".
func PendingName(base string) string {
	if len(base) > maxBase {
		base = strings.ToValidUTF8(base[:maxBase], "")
	}
	var random [8]byte
	rand.Read(random[:]) // crypto/rand never fails
	return "." + base + "." + hex.EncodeToString(random[:]) + ".tmp"
}

// IsPending reports whether base has the form of a name from PendingName.
func IsPending(base string) bool {
	return strings.HasSuffix(base, ".tmp") && pendingName.MatchString(base)
}
