package metamorphic_test

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A script is a shell script that repeats a run. It is printed if a sequence fails.
type script struct{ strings.Builder }

// prologue defines helper functions for the shell.
const prologue = `#!/usr/bin/env bash
# Both commands are on the $PATH, built by
#   go build -tags breakpoints -o DIR/ ./cmd/bulkload ./cmd/extract
# The script works in a new directory.
cd "$(mktemp -d)" && mkdir logs empty

# stopped STEP:N COMMAND...: runs a command until it stops itself at a step
stopped() {
	local step=$1; shift
	USERTRAIL_BREAKPOINT=$step "$@" & pid=$!
	until [[ $(ps -o state= -p $pid) != [RSD]* ]]; do sleep 0.01; done
}
# cut short and continued: what becomes of a command that has stopped
short() { kill -KILL $pid; wait $pid; }
thaw() { kill -CONT $pid; wait $pid; echo "# status $?"; }

`

func (s *script) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// write writes a file.
func (s *script) write(name string, b []byte) {
	if len(b) > 1<<20 {
		s.writeLarge(name, b)
		return
	}
	if dir := filepath.Dir(name); dir != "." {
		s.line("mkdir -p %s", word(dir))
	}
	if !utf8.Valid(b) || len(b) > 0 && b[len(b)-1] != '\n' {
		s.line("base64 -d > %s <<'END'\n%s\nEND", word(name), base64.StdEncoding.EncodeToString(b))
		return
	}
	s.line("cat > %s <<'END'\n%sEND", word(name), b)
}

// run adds a command line, up to the step at which it stops.
func (s *script) run(step *Step, command string) {
	if step.Stop == "" {
		s.line("%s", command)
		return
	}
	s.line("stopped %s %s", step.Stop, command)
	if step.During == nil {
		s.line("short")
	}
}

func words(program string, args []string) string {
	out := []string{program}
	for _, a := range args {
		out = append(out, word(a))
	}
	return strings.Join(out, " ")
}

// word quotes a word for a shell if necessary.
func word(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=%+") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
