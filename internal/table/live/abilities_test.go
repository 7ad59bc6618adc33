package live

import (
	"testing"

	"usertrail/internal/table/snapshot"
	"usertrail/internal/table/tabletest"
)

func TestAbilitiesOfALiveTable(t *testing.T) {
	tabletest.Abilities(t, new(Table),
		"BegunByPuts", "Changing", "Described", "Expiring", "FaultFinder", "FileChecker", "HandedOver", "Hiding",
		"HidingSampled", "LeftBehind", "Loader", "Losing", "Metered", "Putter", "StagedReader", "Stager", "Throttled")
}

// TestASnapshotHasNoAbilityOfItsTable checks that a snapshot hides the abilities of its table. A
// snapshot never changes, and its cells do not expire.
func TestASnapshotHasNoAbilityOfItsTable(t *testing.T) {
	tabletest.Abilities(t, &taken{Table: new(snapshot.Table), of: new(Table)})
}
