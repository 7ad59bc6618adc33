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
	if json.Unmarshal(line, &event) != nil || event.Run.ID == "" || !strings.HasPrefix(event.Schema, specs) {
		return fmt.Errorf("%s %w", name, ErrForeign)
	}
	return nil
}

// Send sends one event. After an address has failed, Send silently drops all later events.
func (s *Sender) Send(ctx context.Context, event map[string]any) error {
	b, err := json.Marshal(event)
	if err != nil {
		return err
	}
	if s.file != "" {
		return appendLine(s.file, b)
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

// appendLine adds one line with one write, so that lines of several runs do not mix.
func appendLine(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
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
