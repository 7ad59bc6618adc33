package explain_test

import (
	"context"
	"errors"

	"usertrail/internal/cell"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
)

// unread is a table whose rows cannot be read.
type unread struct{ *files.Table }

var errRead = errors.New("a row was read")

// Read fails.
func (unread) Read(context.Context, table.Query, func(*cell.Cell) error) error { return errRead }
