package bulkloadtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
)

// Twin returns a fixture with the same logs and job, and with a table of its own.
func (y *Fixture) Twin() *Fixture {
	other := *y
	other.Store.Dir = filepath.Join(y.Dir, "twin")
	return &other
}

// Planning returns the configuration of a load in pieces of about size bytes.
func (y *Fixture) Planning(size int64, from, to string, types ...string) pieces.Config {
	y.T.Helper()
	text, err := os.ReadFile(y.Job.Name)
	if err != nil {
		y.T.Fatal(err)
	}
	return pieces.Config{
		Config: y.Config(from, to, types...), Source: pieces.Job{Name: y.Job.Name, Text: string(text)},
		Address: y.Store.Dir, PieceSize: size,
	}
}

// Plan plans a load. The pieces have been written as lines and read again.
func (y *Fixture) Plan(want error, size int64, from, to string, types ...string) []pieces.Piece {
	y.T.Helper()
	parts, planned, err := pieces.Plan(y.T.Context(), y.Planning(size, from, to, types...))
	if !errors.Is(err, want) {
		y.T.Fatalf("plan of %s..%s: %v, want %v", from, to, err, want)
	}
	if err == nil && (planned.Pieces != len(parts) || planned.Plan != parts[0].Plan) {
		y.T.Errorf("planned are %+v, of %d pieces", planned, len(parts))
	}
	var lines bytes.Buffer
	for i := range parts {
		fmt.Fprintf(&lines, "%d\t%s\n\n", 1000*i, parts[i].Line())
	}
	again, err := pieces.ReadLines(&lines, "lines")
	if err != nil {
		y.T.Fatal(err)
	}
	found, err := pieces.Open(y.T.Context(), y.Store.FS, y.Store, again)
	if err != nil {
		y.T.Fatal(err)
	}
	return found
}

// Worker returns the resources of a worker that does pieces.
func (y *Fixture) Worker(fs dfs.FS) bulkload.Resources {
	y.T.Helper()
	return bulkload.Resources{FS: fs, Store: files.Store{FS: fs, Dir: y.Store.Dir}, Workers: 2, Memory: 8 << 20, Temp: y.T.TempDir()}
}

// Do does a piece.
func (y *Fixture) Do(p *pieces.Piece) pieces.Result {
	y.T.Helper()
	r, err := pieces.Run(y.T.Context(), y.Worker(local.New()), p, time.Minute)
	if err != nil {
		y.T.Fatalf("piece %d of %d: %v", p.Piece, p.Of, err)
	}
	if err := r.Check(); err != nil {
		y.T.Error(err)
	}
	return r
}

// DoAll does all pieces, one after the other.
func (y *Fixture) DoAll(parts []pieces.Piece) {
	y.T.Helper()
	for i := range parts {
		y.Do(&parts[i])
	}
}

// Commit commits the pieces of a plan. want is the error that the commit must end with, or nil.
func (y *Fixture) Commit(want error, parts []pieces.Piece) bulkload.Result {
	y.T.Helper()
	r, err := pieces.Commit(y.T.Context(), y.Worker(local.New()), parts)
	if !errors.Is(err, want) {
		y.T.Fatalf("commit of %d pieces: %v, want %v", len(parts), err, want)
	}
	if err := r.Check(); err != nil {
		y.T.Error(err)
	}
	return r
}

// AFile is a size of pieces at which each file of plays is one piece and no file is cut.
const AFile = 120

// Cut plans the load into HBase in pieces of about size bytes.
func (p *HBase) Cut(fs dfs.FS, mode bulkload.Mode, size int64) ([]pieces.Piece, error) {
	p.T.Helper()
	store := p.Connect(fs)
	defer store.Close()
	cfg := p.Planning(size, "2014-09-01", "2014-09-02")
	cfg.FS, cfg.Store, cfg.Mode, cfg.Address, cfg.Temp = fs, store, mode, store.Address(), ""
	parts, _, err := pieces.Plan(p.T.Context(), cfg)
	return parts, err
}

// DoPiece does a piece of a load into HBase.
func (p *HBase) DoPiece(ctx context.Context, fs dfs.FS, of *pieces.Piece) (pieces.Result, error) {
	p.T.Helper()
	store := p.Connect(fs)
	defer store.Close()
	cfg := p.Worker(fs)
	cfg.Store, cfg.Workers = store, 1
	return pieces.Run(ctx, cfg, of, 0)
}

// Publish commits the pieces of a load into HBase.
func (p *HBase) Publish(ctx context.Context, fs dfs.FS, parts []pieces.Piece) (bulkload.Result, error) {
	p.T.Helper()
	store := p.Connect(fs)
	defer store.Close()
	cfg := p.Worker(fs)
	cfg.Store = store
	return pieces.Commit(ctx, cfg, parts)
}

// LeavesNoPlan fails the test if a file of a plan still exists.
func (p *HBase) LeavesNoPlan() {
	p.T.Helper()
	for name := range dfstest.Snapshot(p.T, local.New(), p.Dir) {
		if strings.Contains(name, "/plans/") || strings.Contains(name, "/pieces/") && strings.HasSuffix(name, ".hfile") {
			p.T.Errorf("%s was left behind", name)
		}
	}
}

// LoadBy loads a day. want is the error that the load must end with, or nil. The way "load" is one
// process, "pieces" has pieces of whole files, and "ranges" has ranges of files of about 60 bytes.
func (y *Fixture) LoadBy(way string, want error, day string, types ...string) bulkload.Result {
	y.T.Helper()
	if way == "load" {
		return y.Load(want, day, day, types...)
	}
	parts := y.Plan(nil, PieceSizes[way], day, day, types...)
	y.DoAll(parts)
	return y.Commit(want, parts)
}

// PieceSizes are the sizes of pieces of the ways of LoadBy that have pieces.
var PieceSizes = map[string]int64{"pieces": 1 << 20, "ranges": 60}

// Ways are two ways of LoadBy.
var Ways = []string{"load", "pieces"}
