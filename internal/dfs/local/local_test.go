package local_test

import (
	"testing"

	"usertrail/internal/dfs"
	"usertrail/internal/dfs/dfstest"
	"usertrail/internal/dfs/local"
)

func TestConforms(t *testing.T) {
	dfstest.Run(t, func(t *testing.T) (dfs.FS, string) { return local.New(), t.TempDir() })
}
