package pieces

import (
	"context"

	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/catalog"
)

// An owner is a piece of a plan. It is the batch.Owner of the piece's files. The load of a piece has no number
// yet, so the names of the files have the plan.
type owner struct {
	piece  *Piece
	folder catalog.Folder
	cfg    *batch.Config
}

// noLoad is the number of the load of a piece. The commit of all pieces replaces it.
const noLoad = 0

// Number implements batch.Owner.
func (o *owner) Number() int { return noLoad }

// FileName implements batch.Owner.
func (o *owner) FileName(region int) string {
	return catalog.PieceName(o.piece.Plan, o.piece.Piece, region)
}

// RollName implements batch.Owner.
func (o *owner) RollName(uint64) string { return catalog.PieceRoll(o.piece.Plan, o.piece.Piece) }

// Begin implements batch.Owner.
func (o *owner) Begin(ctx context.Context, files []manifest.Input, roll *manifest.File) error {
	return o.cfg.To.Putter.BeginPiece(ctx, o.piece.Plan, o.piece.Piece, files, roll, o.piece.Alone)
}

// Copies implements batch.Owner. The plan found the copies, and knows more of them than its lines have.
func (o *owner) Copies(in *batch.Input, own ledger.Copy, _ manifest.Selection) (copies []ledger.Copy, sameAs string) {
	planned := &o.piece.Inputs[in.Index()]
	if copies = planned.copiesOf(in.SHA256()); len(copies) > 0 && planned.SameAs != "" {
		return copies, planned.SameAs
	}
	return copies, own.SameAs(copies, planned.Behaviour, o.cfg.To.Info().Dropped)
}

// Conditions implements batch.Owner.
func (o *owner) Conditions(in *batch.Input, own ledger.Copy) (out []string) {
	for _, c := range o.piece.Inputs[in.Index()].Copies {
		if c.SkippedBy != "" && c.CutBy == own.CutBy {
			out = append(out, c.SkippedBy)
		}
	}
	return out
}

// Replayed implements batch.Owner. The plan found the records.
func (o *owner) Replayed(in *batch.Input) []int64 { return o.piece.Inputs[in.Index()].Replayed.List() }

// Quarantine implements batch.Owner. The commit copies the file to the quarantine, with the lines that stay
// there.
func (o *owner) Quarantine(ctx context.Context, in *batch.Input) *quarantine.File {
	return quarantine.NewFile(ctx, o.cfg.FS, o.cfg.Log, o.folder.Bad(o.piece.Piece, in.Index()), nil)
}
