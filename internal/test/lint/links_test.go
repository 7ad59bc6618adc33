package lint_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"usertrail/internal/test/testkit"
)

// TestLinksLead follows the links of every document, and looks for the heading that a link names.
func TestLinksLead(t *testing.T) {
	tree := os.DirFS(testkit.Repository(t))
	names, err := markdown(tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 20 {
		t.Errorf("only %d documents: %q", len(names), names)
	}
	broken, err := brokenLinks(tree, names)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range broken {
		t.Error(line)
	}
}

// markdown returns the names of all markdown files. It skips folders that git does not keep.
func markdown(tree fs.FS) (names []string, err error) {
	skip := []string{"bin", "demo", "trails", "bench/data"}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(skip, name)):
			return fs.SkipDir
		case path.Ext(name) == ".md":
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

var (
	fenceMark   = regexp.MustCompile("^\\s*(```+|~~~+)")
	codeSpan    = regexp.MustCompile("`(?:[^`\n]|\n[^`\n])*`")
	headingLine = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	anchorTag   = regexp.MustCompile(`<[^>]*\b(?:id|name)="([^"]+)"`)
	scheme      = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	targets     = []*regexp.Regexp{
		regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`),
		regexp.MustCompile(`(?m)^ {0,3}\[[^\]\n]+\]:[ \t]+<?([^\s>]+)`),
		regexp.MustCompile(`\b(?:href|src|srcset)="([^"]+)"`),
	}
)

// brokenLinks returns one line for each link of the named documents to a file that tree does not
// have, or to an anchor that the file does not have.
func brokenLinks(tree fs.FS, names []string) ([]string, error) {
	var out []string
	known := map[string][]string{}
	for _, name := range names {
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		text := withoutCode(withoutFences(string(b)))
		for _, re := range targets {
			for _, at := range re.FindAllStringSubmatchIndex(text, -1) {
				to := text[at[2]:at[3]]
				if scheme.MatchString(to) {
					continue
				}
				if why := broken(tree, name, to, known); why != "" {
					out = append(out, fmt.Sprintf("%s:%d links to %s: %s", name, 1+strings.Count(text[:at[2]], "\n"), to, why))
				}
			}
		}
	}
	return out, nil
}

// broken returns the reason why a link from a document leads nowhere, or "". known keeps the anchors
// of the documents.
func broken(tree fs.FS, from, to string, known map[string][]string) string {
	link, err := url.Parse(to)
	if err != nil {
		return err.Error()
	}
	name := from
	if link.Path != "" {
		name = path.Join(path.Dir(from), link.Path)
	}
	if _, err := fs.Stat(tree, name); err != nil {
		return "there is no such file"
	}
	if link.Fragment == "" || path.Ext(name) != ".md" {
		return ""
	}
	if known[name] == nil {
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return err.Error()
		}
		known[name] = anchors(string(b))
	}
	if !slices.Contains(known[name], link.Fragment) {
		return fmt.Sprintf("%s has no such heading", name)
	}
	return ""
}

// anchors returns the anchors of a document: GitHub's anchors of its headings, and the anchors of its HTML.
func anchors(text string) []string {
	text = withoutFences(text)
	var out []string
	times := map[string]int{}
	for _, m := range headingLine.FindAllStringSubmatch(text, -1) {
		s := slug(m[1])
		n := times[s]
		times[s]++
		if n > 0 {
			s = fmt.Sprintf("%s-%d", s, n)
		}
		out = append(out, s)
	}
	for _, m := range anchorTag.FindAllStringSubmatch(withoutCode(text), -1) {
		out = append(out, m[1])
	}
	return out
}

var markup = regexp.MustCompile("(`[^`]*`)|!\\[[^\\]]*\\]\\([^)]*\\)|\\[([^\\]]*)\\]\\([^)]*\\)|<[^>]*>|\\b_|_\\b")

// slug returns the anchor of a heading, as GitHub makes it: the text in lower case, without
// punctuation, with a hyphen for each space.
func slug(title string) string {
	title = markup.ReplaceAllStringFunc(title, func(s string) string {
		m := markup.FindStringSubmatch(s)
		switch {
		case strings.HasPrefix(s, "`"):
			return s
		case s == "_":
			return ""
		}
		return m[2]
	})
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// withoutFences returns text with empty lines for its fenced blocks.
func withoutFences(text string) string {
	lines := strings.Split(text, "\n")
	open := ""
	for i, line := range lines {
		mark := ""
		if m := fenceMark.FindStringSubmatch(line); m != nil {
			mark = m[1]
		}
		switch {
		case open == "" && mark != "":
			open = mark
			lines[i] = ""
		case open != "":
			if strings.HasPrefix(mark, open) && strings.TrimSpace(line) == mark {
				open = ""
			}
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// withoutCode returns text with spaces for its code spans.
func withoutCode(text string) string {
	return codeSpan.ReplaceAllStringFunc(text, func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, s)
	})
}

// TestBrokenLinksAreFound breaks links in every way, next to links that lead somewhere.
func TestBrokenLinksAreFound(t *testing.T) {
	tree := fstest.MapFS{
		"docs/b.md":      {Data: []byte("# B\n## The `--at` flag, and_more\n## Twice\n## Twice\n<a id=\"mark\"></a>\n```\n# Code\n```\n## [Linked](a.md) text\n## _So_ it is: 100%\n## Größe\n")},
		"docs/img/x.svg": {},
		"docs/a.md": {Data: []byte(strings.Join([]string{
			"# Top",
			"[ok](b.md) [ok](b.md#b) [ok](#top) [ok](../docs/b.md#the---at-flag-and_more) [ok](img) [ok](https://example.org/#no)",
			"[ok](b.md#twice) [ok](b.md#twice-1) [ok](b.md#mark) [ok](b.md#linked-text) [ok](b.md#so-it-is-100) [ok](b.md#gr%C3%B6%C3%9Fe)",
			"![ok](img/x.svg) <img src=\"img/x.svg\"> `[code](no.md)`",
			"~~~",
			"[fenced](no.md)",
			"~~~",
			"[`no`](b.md#code)",
			"[no](b.md#twice-2) [no](#b)",
			"[no](c.md) [no](../b.md#b)",
			"<a href=\"c.md\"> and [reference]",
			"[reference]: b.md#absent",
			"[no](img/x.svg/y)",
		}, "\n"))},
	}
	names, err := markdown(tree)
	if err != nil {
		t.Fatal(err)
	}
	got, err := brokenLinks(tree, names)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"docs/a.md:8 links to b.md#code: docs/b.md has no such heading",
		"docs/a.md:9 links to b.md#twice-2: docs/b.md has no such heading",
		"docs/a.md:9 links to #b: docs/a.md has no such heading",
		"docs/a.md:10 links to c.md: there is no such file",
		"docs/a.md:10 links to ../b.md#b: there is no such file",
		"docs/a.md:13 links to img/x.svg/y: there is no such file",
		"docs/a.md:12 links to b.md#absent: docs/b.md has no such heading",
		"docs/a.md:11 links to c.md: there is no such file",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
