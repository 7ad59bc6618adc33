package manifest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"usertrail/internal/format/manifest"
)

// TestUnmappedDoNotDependOnTheOrder adds many texts in several orders and groups.
func TestUnmappedDoNotDependOnTheOrder(t *testing.T) {
	for _, kinds := range []int{0, 1, 40, manifest.MaxUnmapped, manifest.MaxUnmapped + 1, 5 * manifest.MaxUnmapped} {
		r := rand.New(rand.NewPCG(1, uint64(kinds)))
		want := map[string]int64{}
		var records []string
		for i := range 4 * kinds {
			text := fmt.Sprintf("text %d", i%max(kinds, 1)*(i%3+1)/3)
			want[text]++
			records = append(records, text)
		}
		var first []manifest.TextCount
		for range 4 {
			r.Shuffle(len(records), func(i, k int) { records[i], records[k] = records[k], records[i] })
			groups := make([]manifest.Unmapped, 1+r.IntN(9))
			for _, text := range records {
				groups[r.IntN(len(groups))].Add([]byte(text), 1)
			}
			var all manifest.Unmapped
			for i := range groups {
				all.Merge(&groups[i])
			}
			got := all.List(manifest.MaxUnmapped)
			if len(got) != min(len(want), manifest.MaxUnmapped) {
				t.Fatalf("%d of %d texts are counted", len(got), len(want))
			}
			for _, c := range got {
				if want[c.Text] != c.Records {
					t.Fatalf("%q has %d records, counted are %d", c.Text, want[c.Text], c.Records)
				}
			}
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Fatalf("%d texts: another order has another list", len(want))
			}
		}
	}
}

func TestUnmappedListsTheCommonest(t *testing.T) {
	var u manifest.Unmapped
	for text, n := range map[string]int64{"b": 3, "a": 3, "\n": 1, "rare": 2, "x": 1, "y": 1, "z": 12000} {
		u.Add([]byte(text), n)
	}
	if got, want := u.Describe(12030), `12,000 "z", 3 "a", 3 "b", 2 "rare", 1 "\n", 21 of other texts`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := u.List(2); !slices.Equal(got, []manifest.TextCount{{Text: "z", Records: 12000}, {Text: "a", Records: 3}}) {
		t.Errorf("the two commonest are %v", got)
	}
	b, err := json.Marshal(struct {
		Some manifest.Unmapped `json:"some,omitzero"`
		None manifest.Unmapped `json:"none,omitzero"`
	}{Some: u})
	if want := `{"some":[{"text":"z","records":12000},{"text":"a","records":3},{"text":"b","records":3},{"text":"rare","records":2},`; err != nil || !strings.HasPrefix(string(b), want) {
		t.Errorf("JSON is %s, %v", b, err)
	}
}

// TestUnmappedCutsTexts counts texts that are long, and texts that are not UTF-8.
func TestUnmappedCutsTexts(t *testing.T) {
	long := strings.Repeat("长", 40)
	var u manifest.Unmapped
	u.Add([]byte(long), 1)
	u.Add([]byte(long+"more"), 1)
	u.Add([]byte("a\xffb"), 1)
	list := u.List(9)
	if len(list) != 2 || list[0].Records != 2 || list[1].Text != "a\uFFFDb" {
		t.Fatalf("counted are %v", list)
	}
	if text := list[0].Text; len(text) > 64 || !utf8.ValidString(text) || !strings.HasSuffix(text, "长…") {
		t.Errorf("a long text is cut to %q", text)
	}
}
