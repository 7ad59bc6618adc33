package load

import (
	"context"
	"slices"

	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/catalog"
)

// The files that a batch writes have names with the number of the load. The load of a piece has
// no number yet, so the files of a piece have names with the plan. In both cases the same files
// get the same names, and a second run replaces the files of the first.

// pieceLoad is the number of the load of a piece. The commit of all pieces replaces it.
const pieceLoad = 0

// number returns the number of the load.
func (b *batch) number() int {
	if b.piece != nil {
		return pieceLoad
	}
	return b.target.NextLoad()
}

// fileName returns the name of the files of a region, without their endings.
func (b *batch) fileName(region int) string {
	if b.piece != nil {
		return catalog.PieceName(b.piece.Plan, b.piece.Piece, region)
	}
	return b.stager.FileName(b.target.NextLoad(), region)
}

// rollName returns the name of the roll of a load by puts.
func (b *batch) rollName() string {
	if b.piece != nil {
		return catalog.PieceRoll(b.piece.Plan, b.piece.Piece)
	}
	return b.putter.RollName(b.id())
}

// badName returns the name of the file of an input's bad records.
func (b *batch) badName(in *input) string {
	switch {
	case b.piece != nil:
		return b.piece.folder(b.load).Bad(b.piece.Piece, in.index)
	case in.replay != nil:
		return b.cfg.Store.Quarantine(in.Rel + replayEnding)
	}
	return b.cfg.Store.Quarantine(in.Rel)
}

// replayEnding is added to a delivered file's name, for records that were bad again in a
// replay.
const replayEnding = ".replay"

// keepsOf returns a function that selects the lines to keep of an earlier quarantine file of the
// input. It returns nil for a piece: a piece writes its quarantine file to another place.
func (b *batch) keepsOf(in *input) func(sha string) quarantine.Keeps {
	switch {
	case b.piece != nil:
		return nil
	case in.replay != nil:
		return func(string) quarantine.Keeps { return keepsOfReplay(in) }
	}
	return func(sha string) quarantine.Keeps { return quarantine.KeepsOfLoad(in.Rel, sha, len(in.covered) > 0) }
}

// keepsOfReplay keeps lines of other paths, and lines of the same bytes whose records were
// not replayed.
func keepsOfReplay(in *input) quarantine.Keeps {
	return func(old *quarantine.Record) bool {
		_, replayed := slices.BinarySearch(in.replay.offsets, old.Offset)
		return old.Path != in.Rel || old.SHA256 == in.sha && !replayed && !in.replayedBefore(old.Offset)
	}
}

// begin records in the table the inputs and the roll that are about to be put.
func (b *batch) begin(ctx context.Context, inputs []manifest.Input, roll *manifest.File) error {
	if b.piece != nil {
		return b.putter.BeginPiece(ctx, b.piece.Plan, b.piece.Piece, inputs, roll, b.piece.Alone)
	}
	return b.putter.Begin(ctx, inputs, roll)
}
