package bulkload

import (
	"context"

	"usertrail/internal/catalog"
	"usertrail/internal/manifest"
)

// What a batch writes is called by its load; what a piece of a plan writes, whose load
// has no number yet, by its plan. Either way the same files give the same names, so one
// that is run again replaces what it left.

// number is the load's, 0 of a piece.
func (b *batch) number() int {
	if b.piece != nil {
		return 0
	}
	return b.target.NextLoad()
}

// fileName names the files of a region, without their endings.
func (b *batch) fileName(region int) string {
	if b.piece != nil {
		return catalog.PieceName(b.piece.Plan, b.piece.Piece, region)
	}
	return b.stager.FileName(b.target.NextLoad(), region)
}

// rollName names the roll of what is put.
func (b *batch) rollName() string {
	if b.piece != nil {
		return catalog.PieceRoll(b.piece.Plan, b.piece.Piece)
	}
	return b.putter.RollName(b.id())
}

// badName names the file of an input's bad records.
func (b *batch) badName(in *input) string {
	switch {
	case b.piece != nil:
		return b.piece.folder(b.load).Bad(b.piece.Piece, in.index)
	case in.replay != nil:
		return b.cfg.Store.Quarantine(in.Rel + replayEnding)
	}
	return b.cfg.Store.Quarantine(in.Rel)
}

// begin remembers what is about to be put.
func (b *batch) begin(ctx context.Context, inputs []manifest.Input, roll *manifest.File) error {
	if b.piece != nil {
		return b.putter.BeginPiece(ctx, b.piece.Plan, b.piece.Piece, inputs, roll, b.piece.Alone)
	}
	return b.putter.Begin(ctx, inputs, roll)
}
