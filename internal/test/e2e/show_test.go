package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"usertrail/internal/extract/show"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/test/document"
)

// some returns the IDs of a few users of a table.
func (w *waysFixture) some(s table.Store, n int) []string {
	w.t.Helper()
	opened, err := s.Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer opened.Close()
	users, err := opened.Users(w.t.Context(), split.Region{}, w.span)
	if err != nil {
		w.t.Fatal(err)
	}
	defer users.Close()
	var ids []string
	for len(ids) < n && users.Next() {
		id, err := opened.Info().Layout.AppendUser(nil, users.User().Key)
		if err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, string(id))
	}
	if users.Err() != nil || len(ids) < n {
		w.t.Fatalf("%d users, %v; want %d", len(ids), users.Err(), n)
	}
	return ids
}

// shown returns the trails of users, page by page, with the tokens between pages and the
// message for an unknown user.
func (w *waysFixture) shown(s table.Store, users []string) map[string]string {
	w.t.Helper()
	opened, err := s.Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer opened.Close()
	all := map[string]string{}
	for _, user := range users {
		all[user] = pagesOf(w.t, opened, user)
	}
	var none bytes.Buffer
	asked, _, err := show.Page(w.t.Context(), show.Config{Table: opened, User: "nobody"}, show.NewJSON(&none))
	if err != nil {
		w.t.Fatal(err)
	}
	said, err := show.Instead(w.t.Context(), opened, asked)
	if err != nil {
		w.t.Fatal(err)
	}
	all["nobody"] = none.String() + said
	return all
}

func pagesOf(t *testing.T, opened table.Loader, user string) string {
	t.Helper()
	var text bytes.Buffer
	c := show.Config{Table: opened, User: user, Page: 7}
	for {
		_, r, err := show.Page(t.Context(), c, show.NewJSON(&text))
		if err != nil {
			t.Fatalf("show %s: %v", user, err)
		}
		text.WriteString(r.Next + "\n")
		if c.After = r.Next; c.After == "" {
			return text.String()
		}
	}
}

// TestShowDocRuns runs the commands of docs/reference/show.md in the clone in which README's demo ran,
// and compares the output.
func TestShowDocRuns(t *testing.T) {
	dir, _ := readmeRun(t)
	text := document.Read(t, "docs/reference/show.md")
	var said strings.Builder
	for _, block := range document.Blocks(t, text, "sh") {
		c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
		c.Dir, c.Env = dir, append(os.Environ(), "COLUMNS=80")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("docs/reference/show.md's\n%s\nends with %v:\n%s", block, err, out)
		}
		said.Write(out)
	}
	for _, screen := range document.Blocks(t, text, "text") {
		if !strings.Contains(said.String(), screen) {
			t.Errorf("docs/reference/show.md shows\n%s\nbut its commands say\n%s", screen, said.String())
		}
	}
}
