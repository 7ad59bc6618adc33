package files_test

import (
	"testing"

	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
)

func TestAbilitiesOfATableOfFiles(t *testing.T) {
	tabletest.Abilities(t, new(files.Table),
		"BegunByPuts", "Cataloged", "Described", "Exporter", "FaultFinder", "FileChecker", "Filed", "Founded", "HandedOver",
		"LeftBehind", "Loader", "Losing", "Metered", "Replaceable", "StagedReader", "Stager")
}
