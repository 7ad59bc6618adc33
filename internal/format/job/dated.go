package job

import "slices"

// Dated reports whether the path of every file has its date.
func (p *Pattern) Dated() bool {
	return !slices.ContainsFunc(p.globs, func(g glob) bool { return !g.dated })
}
