package live

import "usertrail/internal/table"

// Spent returns the number of calls to servers. It does not count bytes.
func (t *Table) Spent() table.Spent { return table.Spent{Calls: t.client.Calls()} }
