package jobdraft_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// machineLogs writes the logs of 3 days of cash machines below dir, with a column in front of the others or after them.
func machineLogs(t *testing.T, dir, header string, last bool, text func(i int) string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for d := range 3 {
		name := fmt.Sprintf("atm_2025-03-%d.log", 25+d)
		testkit.WriteFile(t, filepath.Join(dir, "logs", name), lines(header, 300, func(i int) string {
			card := text(r.IntN(120))
			rest := fmt.Sprintf("2025-03-%d %02d:%02d|%s|A%02d", 25+d, i/60, i%60, []string{"withdraw", "deposit", "balance"}[r.IntN(3)], r.IntN(30))
			if last {
				return rest + "|" + card
			}
			return card + "|" + rest
		}))
	}
}

// TestUsersWhoseTextsAreNoPlainIDs drafts jobs of logs without a column that is called a user. The user is the column with
// many texts and not the machine, of which there are few.
func TestUsersWhoseTextsAreNoPlainIDs(t *testing.T) {
	for _, c := range []struct {
		name string
		text func(i int) string
	}{
		{"plain", func(i int) string { return fmt.Sprintf("%d%04d", 100000+i*37, i) }},
		{"masked", func(i int) string { return fmt.Sprintf("%d******%04d", 100000+i*37, i) }},
		{"masked by one character", func(i int) string { return fmt.Sprintf("%d*%04d", 100+i, i) }},
		{"masked in groups", func(i int) string { return fmt.Sprintf("%d **** **** %04d", 1000+i, i) }},
		{"masked mail", func(i int) string { return fmt.Sprintf("%c%c***@example.org", 'a'+i%26, 'a'+i/26) }},
		{"base64", func(i int) string { return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "user%05dx", i)) }},
		{"phone", func(i int) string { return fmt.Sprintf("+49 171 %d", 1000000+i*7) }},
		{"phone in pairs", func(i int) string { return fmt.Sprintf("+33 6 12 34 %02d %02d", i%100, i/100) }},
		{"phone with brackets", func(i int) string { return fmt.Sprintf("(030) 12-%04d", i) }},
		{"hash", func(i int) string { return fmt.Sprintf("#%05d", i) }},
		{"braces", func(i int) string { return fmt.Sprintf("{%08x-%04d}", i*7919, i) }},
		{"word", func(i int) string { return fmt.Sprintf("Nutzer %d", i) }},
		{"path", func(i int) string { return fmt.Sprintf("a/b/%d", i) }},
		{"domain", func(i int) string { return fmt.Sprintf(`CORP\p%03d`, i) }},
	} {
		for _, header := range []string{"", "card|when|op|terminal", "when|op|terminal|card"} {
			t.Run(c.name+" "+header, func(t *testing.T) {
				dir := t.TempDir()
				machineLogs(t, dir, header, strings.HasPrefix(header, "when"), c.text)
				want := `user: "$1" # unsure: a guess: 120 texts in 900 records`
				if header != "" {
					want = "user: card # unsure: a guess: 120 texts in 900 records"
				}
				if (c.name == "plain" || c.name == "base64") && strings.HasPrefix(header, "when") {
					want = "card (120 texts in 900 records"
				}
				if d := makeDraft(t, dir); !strings.Contains(d.Text, want) {
					t.Errorf("the draft has not %s\n%s", want, d.Text)
				}
			})
		}
	}
}

// TestFreeTextIsNotChosenAsTheUser drafts jobs of logs with a column of texts. The draft takes another column, or leaves the
// user open. A question lists texts that may be names.
func TestFreeTextIsNotChosenAsTheUser(t *testing.T) {
	words := []string{"river", "stone", "long", "road", "night", "of", "the", "green", "house", "sea"}
	for _, c := range []struct {
		name   string
		listed bool
		text   func(i int) string
	}{
		{"title", true, func(i int) string { return words[i%10] + " " + words[i/12] }},
		{"numbered title", true, func(i int) string { return fmt.Sprintf("Track %d", i) }},
		{"message", false, func(i int) string { return fmt.Sprintf("the order %d of the shop was paid", i) }},
		{"agent", false, func(i int) string {
			return fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0", i, i)
		}},
		{"url", false, func(i int) string { return fmt.Sprintf("https://shop.example.org/item/%d", i) }},
		{"path of a url", false, func(i int) string { return fmt.Sprintf("/item/%d", i) }},
		{"request", false, func(i int) string { return fmt.Sprintf("GET /item/%d HTTP/1.1", i) }},
		{"file", false, func(i int) string { return fmt.Sprintf("static/css/%d.css", i) }},
		{"amount", false, func(i int) string { return fmt.Sprintf("%d.50 €", i) }},
		{"share", false, func(i int) string { return fmt.Sprintf("%d/120", i) }},
		{"person", true, func(i int) string { return persons[i%12] + " " + string(rune('A'+i/12)) + "." }},
	} {
		for _, header := range []string{"", "what|when|op|terminal"} {
			t.Run(c.name+" "+header, func(t *testing.T) {
				dir := t.TempDir()
				machineLogs(t, dir, header, false, c.text)
				d := makeDraft(t, dir)
				first, machine := "$1", "$4"
				if header != "" {
					first, machine = "what", "terminal"
				}
				if want := "\nuser: " + machine + " #"; !strings.Contains(strings.ReplaceAll(d.Text, `"`, ""), want) {
					t.Errorf("the draft has not%s\n%s", want, d.Text)
				}
				var choices []string
				cfg := jobdraft.Config{FS: local.New(), Logs: filepath.Join(dir, "logs"), Name: filepath.Join(dir, "usertrail.yaml"), Zone: "UTC"}
				cfg.Ask = func(q jobdraft.Question) (string, error) {
					if q.Key == "user" {
						for _, c := range q.Choices {
							choices = append(choices, c.Value)
						}
						if q.Default != machine {
							t.Errorf("the default is %q", q.Default)
						}
					}
					return "", nil
				}
				if _, err := jobdraft.Make(t.Context(), cfg); err != nil {
					t.Fatal(err)
				}
				if slices.Contains(choices, first) != c.listed {
					t.Errorf("the question lists %q", choices)
				}
			})
		}
	}
}

// TestAUserThatOnlyFreeTextMayBeIsOpen drafts a job of a log whose only candidate is a text. The draft names it and leaves the
// user to fill in.
func TestAUserThatOnlyFreeTextMayBeIsOpen(t *testing.T) {
	dir := t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "logs", "calls_2025-03-25.csv"), lines("who_called,when,seconds", 300, func(i int) string {
		return fmt.Sprintf("%s %c.,2025-03-25 %02d:%02d,%d.5", persons[i%12], 'A'+i%7, i/60, i%60, i)
	}))
	d := makeDraft(t, dir)
	if !slices.Equal(d.FillIn, []string{"user"}) || !strings.Contains(d.Text, "; it may be who_called (84 texts in 300 records, such as ") {
		t.Errorf("to fill in: %q\n%s", d.FillIn, d.Text)
	}
	asked := false
	cfg := jobdraft.Config{FS: local.New(), Logs: filepath.Join(dir, "logs"), Name: filepath.Join(dir, "usertrail.yaml"), Zone: "UTC"}
	cfg.Ask = func(q jobdraft.Question) (string, error) {
		if q.Key != "user" {
			return "", nil
		}
		if q.Default != "" || len(q.Choices) != 1 {
			t.Errorf("the question is %+v", q)
		}
		asked = true
		return "who_called", nil
	}
	d, err := jobdraft.Make(t.Context(), cfg)
	if err != nil || !asked || d.Problem != nil || !strings.Contains(d.Text, "\nuser: who_called\n") {
		t.Errorf("asked: %t, %v\n%s", asked, err, d.Text)
	}
}
