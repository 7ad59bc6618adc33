package files_test

import (
	"testing"

	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
)

func TestAbilitiesOfATableOfFiles(t *testing.T) {
	tabletest.Abilities(t, new(files.Table),
		"BegunByPuts", "Described", "Exporter", "FaultFinder", "FileChecker", "Filed", "HandedOver",
		"LeftBehind", "Loader", "Losing", "Metered", "StagedReader", "Stager")
}
