package inspect

import (
	bin "encoding/binary"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// An InfoEntry is an entry of an HFile's file info, with a readable value.
type InfoEntry struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// lastKey is the name of an entry whose value is a whole key.
const lastKey = "hfile.LASTKEY"

// infoForms maps entries to the forms in which HBase writes their values. Other values are
// shown as text if they are text.
var infoForms = map[string]func([]byte) (string, bool){
	lastKey:                         keyForm,
	"hfile.AVG_KEY_LEN":             number32,
	"hfile.AVG_VALUE_LEN":           number32,
	"hfile.CREATE_TIME_TS":          timeForm,
	"hfile.MAX_TAGS_LEN":            number32,
	"hfile.TAGS_COMPRESSED":         boolForm,
	"KEY_VALUE_VERSION":             number32,
	"MAX_MEMSTORE_TS_KEY":           number64,
	"MAX_SEQ_ID_KEY":                number64,
	"DELETE_FAMILY_COUNT":           number64,
	"BULKLOAD_TIMESTAMP":            timeForm,
	"EARLIEST_PUT_TS":               timeForm,
	"TIMERANGE":                     timesForm,
	"MAJOR_COMPACTION_KEY":          boolForm,
	"EXCLUDE_FROM_MINOR_COMPACTION": boolForm,
	"BLOOM_FILTER_PARAM":            number32,
}

func infoEntries(info map[string][]byte) []InfoEntry {
	out := []InfoEntry{}
	for _, name := range slices.Sorted(maps.Keys(info)) {
		out = append(out, InfoEntry{name, infoText(name, info[name])})
	}
	return out
}

// infoText shows a value in its entry's form. If the value does not have this form, it shows
// the bytes.
func infoText(name string, v []byte) string {
	if form := infoForms[name]; form != nil {
		if s, ok := form(v); ok {
			return s
		}
		return binary(v)
	}
	return valueText(v)
}

func number32(v []byte) (string, bool) {
	if len(v) != 4 {
		return "", false
	}
	return fmt.Sprint(int32(bin.BigEndian.Uint32(v))), true
}

func number64(v []byte) (string, bool) {
	if len(v) != 8 {
		return "", false
	}
	return fmt.Sprint(int64(bin.BigEndian.Uint64(v))), true
}

func timeForm(v []byte) (string, bool) {
	if len(v) != 8 {
		return "", false
	}
	return instant(int64(bin.BigEndian.Uint64(v))), true
}

func timesForm(v []byte) (string, bool) {
	if len(v) != 16 {
		return "", false
	}
	return instant(int64(bin.BigEndian.Uint64(v))) + " to " + instant(int64(bin.BigEndian.Uint64(v[8:]))), true
}

func boolForm(v []byte) (string, bool) {
	if len(v) != 1 {
		return "", false
	}
	return fmt.Sprint(v[0] != 0), true
}

// keyForm shows the parts of a key. Package hfile documents its format.
//
//	row family:qualifier time
func keyForm(key []byte) (string, bool) {
	const fixed = 2 + 1 + 8 + 1
	if len(key) < fixed {
		return "", false
	}
	row := int(bin.BigEndian.Uint16(key))
	if fixed+row > len(key) {
		return "", false
	}
	family := int(key[2+row])
	if fixed+row+family > len(key) {
		return "", false
	}
	at := 2 + row + 1
	end := len(key) - 9
	return fmt.Sprintf("%s %s:%s %s", valueText(key[2:2+row]), binary(key[at:at+family]),
		binary(key[at+family:end]), instant(int64(bin.BigEndian.Uint64(key[end:])))), true
}

// valueText shows bytes of an unknown type as text if they are text.
func valueText(v []byte) string {
	if s := string(v); utf8.Valid(v) && plain(s) == s {
		return s
	}
	return binary(v)
}
