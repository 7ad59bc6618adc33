package snapshot

import (
	"math"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/hbase/wire"
)

// TestNamesSayWhereFilesLie parses names of HBase's files, and other names.
func TestNamesSayWhereFilesLie(t *testing.T) {
	own := wire.TableName{Namespace: "ns", Qualifier: "t"}
	for _, c := range []struct {
		name string
		half bool
		want string // the path below data/
	}{
		{"8a5f", false, "ns/t/region/d/8a5f"},
		{"8a5f_SeqId_12_", false, "ns/t/region/d/8a5f_SeqId_12_"},
		{"8a5f.77ab", true, "ns/t/77ab/d/8a5f"},
		{"8a5f_SeqId_12_.77ab", true, "ns/t/77ab/d/8a5f_SeqId_12_"},
		{"other=33cd-8a5f", false, "default/other/33cd/d/8a5f"},
		{"o.t-h_er=33cd-8a5f_SeqId_1_", false, "default/o.t-h_er/33cd/d/8a5f_SeqId_1_"},
		{"space=other=33cd-8a5f", false, "space/other/33cd/d/8a5f"},
		{"other=33cd-8a5f.77ab", true, "default/other/33cd/d/8a5f"},
		{"space=o.er=33cd-8a5f.77ab", true, "space/o.er/33cd/d/8a5f"},
		{"8a5f", true, ""},
		{"8a5f.77ab", false, ""},
		{"8a5f.", true, ""},
		{"other=33cd", false, ""},
		{"=33cd-8a5f", false, ""},
		{"../../x", false, ""},
		{"..=33cd-8a5f/x", false, ""},
	} {
		p, err := placeOf(c.name, c.half, own, "region", "d")
		if c.want == "" {
			if err == nil {
				t.Errorf("%q, half %t: lies at %v", c.name, c.half, p.paths("root"))
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		if got, want := strings.Join(p.paths("root"), " "), "root/data/"+c.want+" root/archive/data/"+c.want; got != want {
			t.Errorf("%q lies at %s, want %s", c.name, got, want)
		}
	}
}

// TestAFamilySaysWhatIsSeen reads attributes; what cannot be followed is refused.
func TestAFamilySaysWhatIsSeen(t *testing.T) {
	at := time.UnixMilli(1_000_000)
	for _, c := range []struct {
		attributes map[string]string
		want       family
		refused    string
	}{
		{nil, family{oldest: math.MinInt64, versions: 1, now: 1_000_000}, ""},
		{map[string]string{"TTL": "2147483647", "MIN_VERSIONS": "0", "VERSIONS": "7", "KEEP_DELETED_CELLS": "TRUE"}, family{oldest: math.MinInt64, versions: 7, now: 1_000_000}, ""},
		{map[string]string{"TTL": "FOREVER"}, family{oldest: math.MinInt64, versions: 1, now: 1_000_000}, ""},
		{map[string]string{"TTL": "60"}, family{oldest: 940_000, versions: 1, now: 1_000_000}, ""},
		{map[string]string{"TTL": "60", "MIN_VERSIONS": "2", "VERSIONS": "400"}, family{oldest: 940_000, versions: 400, least: 2, now: 1_000_000}, ""},
		{map[string]string{"TTL": "a day"}, family{}, "TTL"},
		{map[string]string{"MIN_VERSIONS": "?"}, family{}, "MIN_VERSIONS"},
		{map[string]string{"VERSIONS": "all"}, family{}, "VERSIONS"},
		{map[string]string{"IS_MOB": "true"}, family{}, "IS_MOB"},
		{map[string]string{"NEW_VERSION_BEHAVIOR": "TRUE"}, family{}, "NEW_VERSION_BEHAVIOR"},
	} {
		s := &wire.TableSchema{Families: []wire.FamilySchema{{Name: "other"}, {Name: "d", Attributes: c.attributes}}}
		got, err := familyOf(s, "d", at)
		switch {
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%v: %v, want it refused because of %s", c.attributes, err, c.refused)
		case c.refused == "" && (err != nil || got != c.want):
			t.Errorf("%v: %+v, %v, want %+v", c.attributes, got, err, c.want)
		}
	}
	if _, err := familyOf(&wire.TableSchema{}, "d", at); err == nil {
		t.Error("a family that is not there has attributes")
	}
}
