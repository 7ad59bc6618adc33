package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// A logFormat is the format of standard error.
type logFormat string

const (
	textLog logFormat = "text"
	jsonLog logFormat = "json"
)

// String implements pflag.Value.
func (f *logFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *logFormat) Type() string { return "string" }

// Set implements pflag.Value.
func (f *logFormat) Set(text string) error {
	switch v := logFormat(text); v {
	case textLog, jsonLog:
		*f = v
		return nil
	}
	return fmt.Errorf("%q is none of text, json", text)
}

const logFormatFlag = "log-format"

// wantsJSON reports whether a command line has --log-format json. It does not need a valid
// command line, because errors in the command line are printed as JSON too.
func wantsJSON(args []string) bool {
	f := textLog
	eachValue(args, logFormatFlag, func(text string) { _ = f.Set(text) })
	return f == jsonLog
}

// eachValue calls f with each value of a flag in a command line. The command line may have wrong flags.
func eachValue(args []string, name string, f func(value string)) {
	for i, arg := range args {
		switch flag, value, joined := strings.Cut(arg, "="); {
		case flag != "--"+name:
		case joined:
			f(value)
		case i+1 < len(args):
			f(args[i+1])
		}
	}
}

// A jsonLines writes every line of standard error as a JSON object. A line of text becomes
// the message of an object. Lines for Hadoop stay as they are.
type jsonLines struct {
	mu   sync.Mutex
	out  io.Writer
	name string // of the program
	half []byte // an incomplete line
}

// Write implements io.Writer.
func (j *jsonLines) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.half = append(j.half, b...)
	var out bytes.Buffer
	for {
		line, rest, whole := bytes.Cut(j.half, []byte("\n"))
		if !whole {
			break
		}
		j.line(&out, line)
		j.half = rest
	}
	j.half = bytes.Clone(j.half)
	if out.Len() > 0 {
		if _, err := j.out.Write(out.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (j *jsonLines) line(out *bytes.Buffer, line []byte) {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
	case bytes.HasPrefix(line, []byte("reporter:")), bytes.HasPrefix(line, []byte("{")) && json.Valid(line):
		out.Write(line)
		out.WriteByte('\n')
	default:
		text := strings.TrimPrefix(string(line), j.name+": ")
		log := jsonLog.log(out, j.name, slog.LevelInfo)
		if warning, ok := strings.CutPrefix(text, "warning: "); ok {
			log.Warn(warning)
		} else {
			log.Info(text)
		}
	}
}

// log returns a log of a program in the format f.
func (f logFormat) log(out io.Writer, name string, level slog.Level) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if f == jsonLog {
		return slog.New(slog.NewJSONHandler(out, o)).With("program", name)
	}
	return slog.New(slog.NewTextHandler(out, o))
}

// Log returns a log on standard error, from a level on.
func (e *Env) Log(level slog.Level) *slog.Logger {
	if j, ok := e.Stderr.(*jsonLines); ok {
		return jsonLog.log(j, j.name, level)
	}
	return textLog.log(e.Stderr, e.name, level)
}
