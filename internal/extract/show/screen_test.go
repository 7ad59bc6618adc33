package show_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/show"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

var terminal = runewidth.Condition{StrictEmojiNeutral: true}

// TestNoLineIsTooLong prints worlds on screens of every width, with colour and without. No
// line may be wider, the output must not control the terminal, and colour must not change the
// text.
func TestNoLineIsTooLong(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9]+m")
	for _, seed := range testkit.Seeds(t, 1, 2) {
		w := testworld.World(seed, 8)
		h := newFixture(t, w.Job())
		h.deliverWorld(t, w.Files...)
		opened := h.load(t, w.Span)
		r := rand.New(rand.NewPCG(seed, 9))
		for _, user := range w.Users {
			for range 6 {
				look := show.Look{Width: 1 + r.IntN(150)}
				draw := func() string {
					var b bytes.Buffer
					if _, _, err := show.Page(t.Context(), show.Config{Table: opened, User: user}, show.NewScreen(&b, look)); err != nil {
						t.Fatal(err)
					}
					return b.String()
				}
				plain := draw()
				for line := range strings.Lines(plain) {
					line = strings.TrimSuffix(line, "\n")
					if terminal.StringWidth(line) > look.Width {
						t.Errorf("world %d, user %q: width %d: %q is %d wide", seed, user, look.Width, line, terminal.StringWidth(line))
					}
					if show.Plain(line) != line || strings.TrimRight(line, " ") != line {
						t.Errorf("world %d, user %q: line %q", seed, user, line)
					}
				}
				look.Colour = true
				coloured := draw()
				if colours.ReplaceAllString(coloured, "") != plain || plain != "" && coloured == plain {
					t.Errorf("world %d, user %q, width %d: colour changes more than colours", seed, user, look.Width)
				}
			}
		}
	}
}

// TestColumnsAreAligned checks that a column begins at the same place in all lines, whatever
// precedes it.
func TestColumnsAreAligned(t *testing.T) {
	names := []string{"plain", "新闻联播", "cafe\u0301", "กิ่ง", "한국어", "👩‍💻 at work", "e\u0301\u0323", "tab\there", "نص", "", "\u0301leads"}
	var log strings.Builder
	log.WriteString("user_id,time,name,mark\n")
	for i, n := range names {
		fmt.Fprintf(&log, "u,%d,\"%s\",here\n", (1_409_529_600+int64(i))*1e6, n)
	}
	h := newFixture(t, `
logs: {path: "logs/{behaviour}.csv", zone: UTC}
table: trails
time: {column: time, format: epoch_us}
behaviours:
  play:
    id: 1
    fields: {name: string, mark: string}
`)
	h.deliver(t, "play.csv", []byte(log.String()))
	day := behaviour.DateOf(2014, 9, 1)
	opened := h.load(t, behaviour.Span{From: day, To: day})
	var b bytes.Buffer
	if _, _, err := show.Page(t.Context(), show.Config{Table: opened, User: "u"}, show.NewScreen(&b, show.Look{Width: 80})); err != nil {
		t.Fatal(err)
	}
	want, n := 0, 0
	for line := range strings.Lines(b.String()) {
		before, _, ok := strings.Cut(line, "mark")
		if ok {
			want = terminal.StringWidth(before)
		}
		if before, _, ok = strings.Cut(line, "here"); ok && !strings.HasPrefix(before, "\\t") {
			before = strings.TrimSuffix(before, `tab\t`)
			if got := terminal.StringWidth(before); got != want && !strings.Contains(line, "tab") {
				t.Errorf("mark stands at %d, want %d: %s", got, want, line)
			}
			n++
		}
	}
	if n != len(names) || want == 0 {
		t.Errorf("%d lines with a mark, want %d:\n%s", n, len(names), b.String())
	}
}

func TestPlainShowsWhatWouldCommand(t *testing.T) {
	for in, want := range map[string]string{
		"plain, \"quoted\" text":          "plain, \"quoted\" text",
		"新闻　联播":                           "新闻　联播", // an ideographic space
		"a\tb\r\nc":                       `a\tb\r\nc`,
		"\x1b[31mred\x7f":                 `\x1b[31mred\x7f`,
		"\u009b31m":                       `\u009b31m`,
		"\u202eback":                      `\u202eback`,
		"a\xffb":                          `a\xffb`,
		"\ufffd":                          "\ufffd",
		"می\u200cخواهم":                   "می\u200cخواهم",
		"\u2028":                          `\u2028`,
		"\U000e0001":                      `\U000e0001`,
		"cafe\u0301 \U0001f44d\U0001f3fd": "cafe\u0301 \U0001f44d\U0001f3fd",
	} {
		if got := show.Plain(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
