package lineage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// patience is how long an address may take to take one event. A run does not wait
// longer for those who only watch it.
const patience = 2 * time.Second

// endpoint is where an address that names only a server takes events.
const endpoint = "/api/v1/lineage"

// A Sender takes events to a file or an address.
type Sender struct {
	file string
	url  string
	key  string
	gone bool // it did not answer, and is not asked again

	patience time.Duration // for one event
}

// NewSender returns a Sender to a file, or to an http:// or https:// address, where key
// is sent as a bearer's if there is one.
func NewSender(to, key string) (*Sender, error) {
	if !strings.HasPrefix(to, "http://") && !strings.HasPrefix(to, "https://") {
		if strings.Contains(to, "://") {
			return nil, fmt.Errorf("%s is neither a file nor an http:// or https:// address", to)
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

// Send sends one event. Once an address has failed, the events after it are dropped
// without a word.
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
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		return fmt.Errorf("%s answers %s: %s", s.url, answer.Status, bytes.TrimSpace(said))
	}
	return nil
}
