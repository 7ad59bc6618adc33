package main

import (
	"testing"

	"usertrail/cmd/internal/cli"
	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/extract/report"
)

func TestResultsCountWhatTheLastLineHas(t *testing.T) {
	env := new(cli.Env)
	scripttest.CheckCounts(t, env, newRoot(env), report.Report{})
}
