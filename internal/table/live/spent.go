package live

import "usertrail/internal/table"

// Spent is how many calls of servers were made. How many bytes came of them is not
// known.
func (t *Table) Spent() table.Spent { return table.Spent{Calls: t.client.Calls()} }
