package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/test/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(testkit.InHome(m), map[string]func(){"bulkload": scripttest.Armed(main)})
}

// TestScripts runs testdata/script: what people and schedulers rely on.
func TestScripts(t *testing.T) { scripttest.Run(t) }
