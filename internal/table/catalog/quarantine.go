package catalog

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"usertrail/internal/store/dfs"
)

const (
	// maxQuarantine is the maximum length of a name in bytes, without its ending. Most file
	// systems allow 255 bytes.
	maxQuarantine = 200
	// keptQuarantine is the number of bytes of a longer name that precede its digest.
	keptQuarantine = 160
)

// Quarantine returns the name of the file for bad records of a delivered file. All such files
// are in one directory, and no two paths have the same name:
//
//	/                          __
//	_ next to a / or a _       %5F
//	%, ~                       %25, %7E
//	a name that is too long    its beginning, ~, and a digest of the path
func Quarantine(dir, path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c == '/':
			b.WriteString("__")
		case c == '%', c == '~', c == '_' && (separates(path, i-1) || separates(path, i+1)):
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	name := b.String()
	if len(name) > maxQuarantine {
		sum := sha256.Sum256([]byte(path))
		name = fmt.Sprintf("%s~%x", strings.ToValidUTF8(name[:keptQuarantine], ""), sum[:16])
	}
	return dfs.Join(dir, quarantineName, name+".jsonl")
}

// separates reports whether byte i of path is a slash or an underscore.
func separates(path string, i int) bool {
	return i >= 0 && i < len(path) && (path[i] == '/' || path[i] == '_')
}
