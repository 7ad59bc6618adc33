package snapshot_test

import (
	"testing"

	"usertrail/internal/table/snapshot"
	"usertrail/internal/table/tabletest"
)

func TestASnapshotHasNoAbilities(t *testing.T) { tabletest.Abilities(t, new(snapshot.Table)) }
