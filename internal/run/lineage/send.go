package lineage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"usertrail/internal/run/pipe"
)

// patience is how long an address may take to accept one event. A run does not wait longer
// for a service that only observes it.
const patience = 2 * time.Second

// endpoint is the path for events if an address names only a server.
const endpoint = "/api/v1/lineage"

// A Sender sends events to a file or an address.
type Sender struct {
	file string
	url  string
	key  string
	gone bool // the address did not respond, and is not tried again

	patience time.Duration // time limit of one event
}

// NewSender returns a Sender to a file of events, or to an http:// or https:// address. If
// key is not empty, it is sent to the address as a bearer token.
func NewSender(to, key string) (*Sender, error) {
	if !strings.HasPrefix(to, "http://") && !strings.HasPrefix(to, "https://") {
		if strings.Contains(to, "://") {
			return nil, fmt.Errorf("%s is neither a file nor an http:// or https:// address", to)
		}
		if err := checkFile(to); err != nil {
			return nil, err
		}
		return &Sender{file: to}, nil
	}
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	if u.Host == "" {
		return nil, fmt.Errorf("%s names no host", to)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = endpoint
	}
	return &Sender{url: u.String(), key: key, patience: patience}, nil
}

// ErrForeign is wrapped if a file holds anything but events.
var ErrForeign = errors.New("holds something else than events of OpenLineage: name another file")

// maxEvent is the largest length of the first line of a file, in bytes.
const maxEvent = 16 << 20

// checkFile returns an error that wraps ErrForeign if the first line of a file is not an
// event. It does not read files that are not regular, such as pipes.
func checkFile(name string) error {
	fi, err := os.Stat(name)
	if errors.Is(err, iofs.ErrNotExist) || err == nil && (!fi.Mode().IsRegular() || fi.Size() == 0) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxEvent)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var event struct {
		Schema string `json:"schemaURL"`
		Run    struct {
			ID string `json:"runId"`
		} `json:"run"`
	}
	if json.Unmarshal(line, &event) != nil {
		if isCut(bytes.TrimSuffix(line, []byte("\n"))) {
			return nil
		}
	} else if event.Run.ID != "" && strings.HasPrefix(event.Schema, specs) {
		return nil
	}
	return fmt.Errorf("%s %w", name, ErrForeign)
}

// begin is the beginning of every event that Send writes: json.Marshal sorts the names.
const begin = `{"eventTime":"`

// isCut reports whether a line that is not JSON can be the beginning of an event. A line { may
// also begin another file of JSON, so it is not one.
func isCut(line []byte) bool {
	return bytes.HasPrefix(line, []byte(begin)) || len(line) > 1 && strings.HasPrefix(begin, string(line))
}

// Send sends one event. After an address has failed, Send silently drops all later events.
func (s *Sender) Send(ctx context.Context, event map[string]any) error {
	b, err := json.Marshal(event)
	if err != nil {
		return err
	}
	if s.file != "" {
		return appendLine(ctx, s.file, b)
	}
	if s.gone {
		return nil
	}
	if err := s.post(ctx, b); err != nil {
		s.gone = true
		return err
	}
	return nil
}

// appendLine adds one line with one write, so that lines of several runs do not mix. If the file
// ends in a cut line, such as after a kill, appendLine ends that line first. If the disk is full,
// it removes the part of its own line that was written.
func appendLine(ctx context.Context, name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	cut, err := endsCut(ctx, f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	line := append(b, '\n')
	if cut {
		line = append([]byte{'\n'}, line...)
	}
	n, err := f.Write(line)
	if n > 0 && n < len(line) {
		err = errors.Join(err, removeEnd(f, int64(n)))
	}
	return errors.Join(err, f.Close())
}

// settle is the time after which a line that has not grown is cut: no run is writing it.
const settle = 10 * time.Millisecond

// endsCut reports whether the last line of a regular file is cut.
func endsCut(ctx context.Context, f *os.File) (bool, error) {
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() == 0 {
		return false, err
	}
	r, err := os.Open(f.Name())
	if err != nil {
		return false, err
	}
	defer r.Close()
	for before := int64(-1); ; {
		fi, err := r.Stat()
		if err != nil || fi.Size() == 0 {
			return false, err
		}
		var last [1]byte
		if _, err := r.ReadAt(last[:], fi.Size()-1); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if last[0] == '\n' || fi.Size() == before {
			return last[0] != '\n', nil
		}
		before = fi.Size()
		if err := pipe.Sleep(ctx, settle); err != nil {
			return false, err
		}
	}
}

// removeEnd removes the last n bytes of a regular file, which f has just written. If another run has
// written since, they stay.
func removeEnd(f *os.File, n int64) error {
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return err
	}
	if end, err := f.Seek(0, io.SeekCurrent); err != nil || end != fi.Size() {
		return err
	}
	return f.Truncate(fi.Size() - n)
}

func (s *Sender) post(ctx context.Context, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(b))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("%s responds %s: %s", s.url, response.Status, bytes.TrimSpace(said))
	}
	return nil
}
