package job

import (
	"slices"
	"strings"

	"usertrail/internal/behaviour"
)

// A level lists the keys that are valid at one place of a job file.
type level struct {
	place string // its name in messages
	keys  []string
}

var (
	topLevel       = level{"at the top", []string{"logs", "table", "layout", "user", "time", "fields", "behaviours", "kerberos"}}
	logsLevel      = level{"under logs", []string{"path", "ready", "format", "delimiter", "header", "names", "encoding", "zone", "max_line", "nulls", "slack", "max_bad", "max_skipped", "skip", "min_records", "behaviour"}}
	kindLevel      = level{"under logs.behaviour", []string{"column", "pattern", "texts", "others"}}
	tableLevel     = level{"under table", []string{"path", "regions", "compression", "catalog", "family", "root", "ttl", "others"}}
	behaviourLevel = level{"under a behaviour", []string{"id", "as", "path", "user", "time", "required", "min_records", "other", "unique", "fields"}}
	userLevel      = level{"under user", []string{"column", "pattern", "empty"}}
	timeLevel      = level{"under time", []string{"column", "pattern", "format", "zone", "year", "earliest", "latest"}}
	fieldLevel     = level{"under a field", []string{"type", "column", "pattern", "format", "zone"}}
	kerberosLevel  = level{"under kerberos", []string{"keytab", "principal", "protection"}}

	levels = []level{topLevel, logsLevel, kindLevel, tableLevel, behaviourLevel, userLevel, timeLevel, fieldLevel, kerberosLevel}
)

// has reports whether key is valid at l.
func (l level) has(key string) bool { return slices.Contains(l.keys, key) }

// explain returns the message for a key that is not valid at l. meant is the key of l that the
// user probably meant, or "" if none is near.
func (l level) explain(key string) (text, meant string) {
	var places []string
	for _, other := range levels {
		if other.has(key) {
			places = append(places, other.place)
		}
	}
	here := "; here are " + strings.Join(l.keys, ", ")
	if len(places) > 0 {
		return "this key belongs " + strings.Join(places, " or ") + here, ""
	}
	right, near := behaviour.Nearest(key, l.keys)
	if near {
		return "unknown key, did you mean " + right + "?", right
	}
	return "unknown key, the nearest is " + right + here, ""
}
