package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/convert"
	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/extract"
	"usertrail/internal/extract/ddl"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/show"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/inspect"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/certs"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/token"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/precheck"
)

// statuses has every error that has an exit status of its own, by its name in the source.
var statuses = map[string]struct {
	err    error
	status exit.Status
}{
	"output.ErrGone": {output.ErrGone, 141},

	"context.Canceled": {context.Canceled, 1},
	"dfs.ErrLockLost":  {dfs.ErrLockLost, 1},

	"bulkload.ErrRequest": {bulkload.ErrRequest, 64},
	"cli.ErrUsage":        {cli.ErrUsage, 64},
	"convert.ErrRequest":  {convert.ErrRequest, 64},
	"dfs.ErrNotDir":       {dfs.ErrNotDir, 64},
	"dfs.ErrScheme":       {dfs.ErrScheme, 64},
	"query.ErrWrong":      {query.ErrWrong, 64},
	"place.ErrUnwritable": {place.ErrUnwritable, 64},
	"hadoopconf.ErrConf":  {hadoopconf.ErrConf, 64},
	"inspect.ErrUnknown":  {inspect.ErrUnknown, 64},
	"job.ErrJob":          {job.ErrJob, 64},
	"live.ErrAddress":     {live.ErrAddress, 64},

	"certs.ErrStore":          {certs.ErrStore, 64},
	"secure.ErrPolicy":        {secure.ErrPolicy, 64},
	"hdfs.ErrInsecure":        {hdfs.ErrInsecure, 64},
	"token.ErrExpired":        {token.ErrExpired, 64},
	"token.ErrFile":           {token.ErrFile, 64},
	"kerberos.ErrConf":        {kerberos.ErrConf, 64},
	"kerberos.ErrCredentials": {kerberos.ErrCredentials, 64},
	"kerberos.ErrExpired":     {kerberos.ErrExpired, 64},
	"kerberos.ErrNoTicket":    {kerberos.ErrNoTicket, 64},
	"kerberos.ErrRefused":     {kerberos.ErrRefused, 64},
	"kerberos.ErrSilent":      {kerberos.ErrSilent, 75},
	"kerberos.ErrSkew":        {kerberos.ErrSkew, 64},

	"manifest.ErrNewer":    {manifest.ErrNewer, 64},
	"piece.ErrPiece":       {piece.ErrPiece, 64},
	"show.ErrQuery":        {show.ErrQuery, 64},
	"syscall.EISDIR":       {syscall.EISDIR, 64},
	"table.ErrNoManifest":  {table.ErrNoManifest, 64},
	"table.ErrUnfit":       {table.ErrUnfit, 64},
	"userlist.ErrList":     {userlist.ErrList, 64},
	"memory.ErrColumns":    {memory.ErrColumns, 64},
	"ddl.ErrUnfit":         {ddl.ErrUnfit, 64},
	"manifest.ErrNoResult": {manifest.ErrNoResult, 64},

	"bulkload.ErrTooBad": {bulkload.ErrTooBad, 65},
	"bulkload.ErrLeft":   {bulkload.ErrLeft, 65},
	"extract.ErrForeign": {extract.ErrForeign, 65},

	"job.ErrNoInput":          {job.ErrNoInput, 66},
	"jobdraft.ErrNoLog":       {jobdraft.ErrNoLog, 66},
	"manifest.ErrNoDirectory": {manifest.ErrNoDirectory, 66},
	"table.ErrDays":           {table.ErrDays, 66},
	"table.ErrNoTable":        {table.ErrNoTable, 66},

	"bulkload.ErrGrowing":  {bulkload.ErrGrowing, 75},
	"dfs.ErrLocked":        {dfs.ErrLocked, 75},
	"dfs.ErrUnavailable":   {dfs.ErrUnavailable, 75},
	"piece.ErrMissing":     {piece.ErrMissing, 75},
	"precheck.ErrNoRoom":   {precheck.ErrNoRoom, 75},
	"table.ErrChanged":     {table.ErrChanged, 75},
	"table.ErrUnreachable": {table.ErrUnreachable, 75},
	"table.ErrUnsettled":   {table.ErrUnsettled, 75},

	"bulkload.ErrNothing":  {bulkload.ErrNothing, 99},
	"manifest.ErrAppended": {manifest.ErrAppended, 99},
	"pieces.ErrNothing":    {pieces.ErrNothing, 99},
	"upkeep.ErrNothing":    {upkeep.ErrNothing, 99},

	"fs.ErrExist": {fs.ErrExist, 73},
}

// priority is the order in which errors of a joined error decide the status.
var priority = []exit.Status{141, 1, 64, 65, 66, 75, 99, 73}

// TestAnErrorHasItsStatus wraps each error in the forms that occur.
func TestAnErrorHasItsStatus(t *testing.T) {
	for name, x := range statuses {
		for form, err := range map[string]error{
			"alone":   x.err,
			"wrapped": fmt.Errorf("load 7: %w", fmt.Errorf("%w: of file x", x.err)),
			"joined":  fmt.Errorf("x: %w", errors.Join(errors.New("another"), fmt.Errorf("%w: %w", x.err, errors.New("its cause")))),
		} {
			if got := cli.Status(err); got != x.status {
				t.Errorf("%s %s: status %d, want %d", name, form, got, x.status)
			}
		}
	}
}

// TestTheFirstStatusOfSeveralIsTaken joins each two errors, in both orders.
func TestTheFirstStatusOfSeveralIsTaken(t *testing.T) {
	for a, x := range statuses {
		for b, y := range statuses {
			want := priority[min(slices.Index(priority, x.status), slices.Index(priority, y.status))]
			for form, err := range map[string]error{"join": errors.Join(x.err, y.err), "wrap": fmt.Errorf("%w: %w", x.err, y.err)} {
				if got := cli.Status(err); got != want {
					t.Errorf("%s of %s and %s: status %d, want %d", form, a, b, got, want)
				}
			}
		}
	}
}

// TestEveryErrorWithAStatusIsListed reads the source for errors that get a status.
func TestEveryErrorWithAStatusIsListed(t *testing.T) {
	given := regexp.MustCompile(`(\w+)\s*=\s*exit\.(?:New|With)\(|exit\.(?:New|With)\(`)
	found := map[string]bool{"context.Canceled": true, "syscall.EISDIR": true, "fs.ErrExist": true} // of the standard library
	root := filepath.Join("..", "..", "..")
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			b, err := os.ReadFile(name)
			for _, m := range given.FindAllSubmatch(b, -1) {
				found[filepath.Base(filepath.Dir(name))+"."+string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(statuses)); !slices.Equal(got, want) {
		t.Errorf("the source gives statuses to\n%q, want the errors of statuses:\n%q", got, want)
	}
}

// TestOtherErrorsHaveStatus1 checks errors without a status.
func TestOtherErrorsHaveStatus1(t *testing.T) {
	if got := cli.Status(nil); got != 0 {
		t.Errorf("no error: status %d, want 0", got)
	}
	for _, err := range []error{errors.New("another"), fs.ErrNotExist, fs.ErrPermission, context.DeadlineExceeded, manifest.ErrDamaged, table.ErrDamaged, syscall.ENOSPC, errors.Join(fs.ErrNotExist, fs.ErrPermission)} {
		if got := cli.Status(err); got != 1 {
			t.Errorf("%v: status %d, want 1", err, got)
		}
	}
	if got := cli.Status(&os.PathError{Op: "mkdir", Path: "x", Err: syscall.EEXIST}); got != 73 {
		t.Errorf("an error of the operating system about a name that exists: status %d, want 73", got)
	}
}

// TestALostLockIsToldFirst checks that the loss of the lock decides the status. After it no
// other error is certain, so the run must be repeated.
func TestALostLockIsToldFirst(t *testing.T) {
	for _, other := range []error{bulkload.ErrTooBad, bulkload.ErrRequest, bulkload.ErrNothing, dfs.ErrUnavailable} {
		err := errors.Join(other, fmt.Errorf("unlock: %w", dfs.ErrLockLost))
		if got := cli.Status(err); got != exit.Failed {
			t.Errorf("%v: status %d, want %d", err, got, exit.Failed)
		}
		if got := cli.Status(other); got == exit.Failed {
			t.Errorf("%v alone: status %d, too", other, got)
		}
	}
}
