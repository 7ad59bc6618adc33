package advise

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
)

const (
	// regionBytes is half the size at which HBase splits a region.
	regionBytes = 5 << 30
	// loadBytes is the size of logs for one region, and loadRegions is the largest number of such
	// regions. They are as in a first load, so that as many files are written at once.
	loadBytes   = 256 << 20
	loadRegions = 64
	maxRegions  = 100_000
	// evenRegions is the number of regions for a layout that has split points of its own.
	evenRegions = 16

	// worth is the size that a slower codec must reach, as a share of the faster codec's size.
	worth = 0.75
	// useless is the share of the uncompressed size at which a codec is not worth its time.
	useless = 0.95
)

// Settings are the recommended settings of a new table.
type Settings struct {
	Regions   int              `json:"regions"`
	Even      bool             `json:"even"`   // split points come from the layout, whatever the users are
	Splits    []string         `json:"splits"` // rows that regions begin with, as HBase's shell writes them
	Codec     string           `json:"compression"`
	Codecs    map[string]int64 `json:"codecs"` // bytes of the table with each codec
	Bloom     string           `json:"bloom"`
	BloomLen  int              `json:"bloom_prefix,omitempty"`
	BlockSize int              `json:"block_size"`
	Versions  int              `json:"versions"`
	TTLDays   int              `json:"ttl_days"` // 0 means no limit
	Reasons   []string         `json:"reasons"`
}

// settle returns the settings of a table in the chosen layout.
func (a *Advice) settle(cfg Config, where Place, best Cost) (Settings, error) {
	s := Settings{Splits: []string{}, Codecs: map[string]int64{}, Bloom: "NONE", BlockSize: blockSize, Versions: 1}
	l, err := layout.ByName(best.Layout)
	if err != nil {
		return s, err
	}
	if err := a.chooseCodec(&s, cfg.Job, l, where); err != nil {
		return s, err
	}
	if where == HBase {
		a.suitServers(&s, cfg.Job, l)
	} else {
		s.reason("No Bloom filter: the rolls list the users.")
	}
	a.cut(&s, cfg.Job, l, where)
	return s, nil
}

func (s *Settings) reason(format string, args ...any) {
	s.Reasons = append(s.Reasons, fmt.Sprintf(format, args...))
}

// codecs lists the compared codecs, the fastest first.
var codecs = []string{"none", "snappy", "zstd"}

// chooseCodec chooses the compression by the sizes of the table.
func (a *Advice) chooseCodec(s *Settings, j *job.Job, l layout.Layout, where Place) error {
	var forms []form
	for _, c := range codecs {
		forms = append(forms, form{where, c})
	}
	sizes, err := a.sizes(j, l, forms)
	if err != nil {
		return err
	}
	for i, c := range codecs {
		s.Codecs[c] = int64(sizes[i] * a.Held)
	}
	none, snappy, zstd := sizes[0], sizes[1], sizes[2]
	switch {
	case zstd < worth*snappy:
		s.Codec = "zstd"
		s.reason("zstd files have %.0f%% of the size of snappy files, and a load takes about twice as long.", 100*zstd/snappy)
	case snappy > useless*none:
		s.Codec = "none"
		s.reason("snappy leaves %.0f%% of the bytes, zstd %.0f%%: not worth their time.", 100*snappy/none, 100*zstd/none)
	default:
		s.Codec = "snappy"
		s.reason("snappy leaves %.0f%% of the bytes; zstd would leave %.0f%%, for about twice the time of a load.", 100*snappy/none, 100*zstd/none)
	}
	return nil
}

// suitServers sets the settings that only a family in HBase has.
func (a *Advice) suitServers(s *Settings, j *job.Job, l layout.Layout) {
	traits := l.Traits()
	s.Versions = max(traits.Versions, 1)
	if traits.Versions > 1 {
		s.reason("%d versions: a column of a row has one version for each day.", traits.Versions)
	}
	s.Bloom = "ROW"
	n := a.keyLen(l)
	switch {
	case n > 0:
		s.Bloom, s.BloomLen = "ROWPREFIX_FIXED_LENGTH", n
		s.reason("The Bloom filter is for users: all their keys have %d bytes, so scans of a user use it, too.", n)
	case traits.Together:
		s.reason("The Bloom filter is for rows: rows begin with the keys of users, which have different lengths.")
	default:
		s.reason("The Bloom filter is for rows: they do not begin with users.")
	}
	ttl := j.Table.TTL
	if own, err := layout.ByName(cmp.Or(j.Layout, layout.Default)); err == nil && !j.Table.Forever && ttl == own.Traits().TTL {
		ttl = traits.TTL
	}
	s.TTLDays = wholeDays(ttl)
	if s.TTLDays > 0 && s.TTLDays < a.TableDays {
		s.TTLDays = a.TableDays
	}
}

// keyLen returns the length of all user keys. It returns 0 if lengths differ, or if rows do not begin with
// user keys.
func (a *Advice) keyLen(l layout.Layout) int {
	if !l.Traits().Together {
		return 0
	}
	n := 0
	for i := range a.kept {
		m := len(l.AppendUserKey(nil, a.kept[i].User))
		if i > 0 && m != n {
			return 0
		}
		n = m
	}
	return n
}

// cut sets the number of regions and the split points.
func (a *Advice) cut(s *Settings, j *job.Job, l layout.Layout, where Place) {
	night := float64(a.Bytes) / float64(a.Days)
	n := min(max(int(math.Ceil(night/loadBytes)), 1), loadRegions)
	if where == HBase {
		n = min(max(n, int(math.Ceil(float64(s.Codecs[s.Codec])/regionBytes))), maxRegions)
	}
	even := l.Traits().Splits
	if even != nil && where == HBase {
		n = max(n, evenRegions)
	}
	s.Regions = cmp.Or(j.Table.Regions, n)
	var points split.Points
	if even != nil {
		s.Even, points = true, even(s.Regions)
		s.reason("Regions are split evenly, by HexStringSplit, and do not depend on the users.")
	} else {
		points = split.Balanced(a.samples(j.Schema, l), s.Regions)
		s.reason("Regions are split at users of the sample.")
	}
	s.Regions = len(points) + 1
	for _, p := range points {
		s.Splits = append(s.Splits, shellText(p))
	}
}

// samples returns the keys by which regions are cut.
func (a *Advice) samples(s *behaviour.Schema, l layout.Layout) []split.Sample {
	out := make([]split.Sample, len(a.kept))
	for i := range a.kept {
		out[i] = split.Sample{Key: layout.AppendSplitKey(nil, l, s, &a.kept[i]), Weight: 1}
	}
	return out
}

// shellText writes bytes as HBase's shell does.
func shellText(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '"' {
			fmt.Fprintf(&out, `\x%02X`, c)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// Lines returns the lines of a job for such a table, ready to paste. Settings of t that do
// not depend on the advice are kept.
func (c *Choice) Lines(t job.Table) []string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+value)
		}
	}
	add("path", quoted(t.Address))
	if c.Where == HBase {
		add("catalog", quoted(t.Catalog))
		add("family", quoted(t.Family))
		add("root", quoted(t.Root))
		if t.Others {
			add("others", "true")
		}
		add("ttl", c.ttl())
	}
	add("compression", c.Codec)
	add("regions", strconv.Itoa(c.Regions))
	return []string{"layout: " + c.Layout, "table: {" + strings.Join(parts, ", ") + "}"}
}

// ttl returns the time for which behaviours are kept, as a job writes it. It returns "" if
// there is no limit and the layout has none either.
func (c *Choice) ttl() string {
	l, err := layout.ByName(c.Layout)
	switch {
	case c.TTLDays > 0:
		return fmt.Sprintf("%dd", c.TTLDays)
	case err == nil && l.Traits().TTL > 0:
		return "forever"
	}
	return ""
}

// quoted writes a text for YAML's brackets.
func quoted(s string) string {
	if strings.ContainsAny(s, ":,{}[]#&*!|>'\"%@` ") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	return s
}
