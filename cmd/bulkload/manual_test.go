package main

import (
	"testing"

	"usertrail/cmd/internal/cli"
	"usertrail/cmd/internal/manual"
)

// TestFlagsPage compares docs/reference/flags.md with the flags of the program.
func TestFlagsPage(t *testing.T) {
	manual.CheckFlags(t, newRoot(new(cli.Env)), "../../docs/reference/flags.md")
}

// TestManPages writes the man pages of the program.
func TestManPages(t *testing.T) { manual.WriteMan(t, newRoot(new(cli.Env))) }
