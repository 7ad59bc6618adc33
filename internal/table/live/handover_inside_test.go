package live

import (
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/secure/token"
)

// TestARefusalNamesWhatToCheck has a region that refuses a file again and again.
func TestARefusalNamesWhatToCheck(t *testing.T) {
	for want, fsToken := range map[string]*token.Token{"may the user HBase runs as": nil, token.Advice: {}} {
		h := &handover{Handover: new(manifest.Handover), fsToken: fsToken, refusals: map[string]int{}}
		var err error
		for range mostRefusals {
			if err != nil {
				t.Fatalf("too early: %v", err)
			}
			err = h.refused(hbase.Region{}, []manifest.Staged{{Name: "file"}})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
