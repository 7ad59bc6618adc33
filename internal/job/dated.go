package job

import "slices"

// Dated says whether the path of every file tells its date.
func (p *Pattern) Dated() bool {
	return !slices.ContainsFunc(p.globs, func(g glob) bool { return !g.dated })
}
