package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/pflag"
)

// A logFormat is how what is said on standard error is written.
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

// wantsJSON says whether a command line asks for JSON. It is asked before the line is
// parsed, since what is wrong with it is said in JSON, too.
func wantsJSON(args []string) bool {
	f := textLog
	p := pflag.NewFlagSet("", pflag.ContinueOnError)
	p.SetOutput(io.Discard)
	p.ParseErrorsAllowlist.UnknownFlags = true
	p.Usage = func() {}
	p.Var(&f, logFormatFlag, "")
	for i, arg := range args { // each by itself: what is wrong with another does not matter
		if name, _, _ := strings.Cut(arg, "="); name == "--"+logFormatFlag {
			_ = p.Parse(args[i:min(i+2, len(args))])
		}
	}
	return f == jsonLog
}

// A jsonLines is a standard error on which every line is a JSON object. A line that is
// none becomes the message of one; what is for Hadoop stays as it is.
type jsonLines struct {
	mu   sync.Mutex
	out  io.Writer
	name string // of the program
	half []byte // a line without its end
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
		if said, ok := strings.CutPrefix(text, "warning: "); ok {
			log.Warn(said)
		} else {
			log.Info(text)
		}
	}
}

// log is a log of a program that writes as f says.
func (f logFormat) log(out io.Writer, name string, level slog.Level) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if f == jsonLog {
		return slog.New(slog.NewJSONHandler(out, o)).With("program", name)
	}
	return slog.New(slog.NewTextHandler(out, o))
}

// Log is for standard error, from a level on.
func (e *Env) Log(level slog.Level) *slog.Logger {
	if j, ok := e.Stderr.(*jsonLines); ok {
		return jsonLog.log(j, j.name, level)
	}
	return textLog.log(e.Stderr, e.name, level)
}
