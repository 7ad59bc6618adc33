package quarantine

import "strings"

// Again is added to the path of a delivered file, for the name of the quarantine file of corrected records that are bad again.
const Again = ".replay"

// ending ends the name of every quarantine file, see table.Store.
const ending = ".jsonl"

// IsAgain reports whether name is the name of a file of records that are bad again.
func IsAgain(name string) bool { return strings.HasSuffix(name, Again+ending) }

// AgainOf returns the name of the file of the records that are bad again, for the quarantine file called name.
func AgainOf(name string) string { return strings.TrimSuffix(name, ending) + Again + ending }
