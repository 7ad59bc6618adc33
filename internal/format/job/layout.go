package job

import (
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// layout returns the layout that v names, or the default if v is not given or names none.
func (v value) layout() layout.Layout {
	name, ok := v.word()
	if !ok {
		name = layout.Default
	}
	l, err := layout.ByName(name)
	if err == nil {
		return l
	}
	first, _, _ := strings.Cut(name, "/")
	if names := layout.Names(); slices.Contains(names, first) {
		v.wrong("%v", err)
	} else {
		v.wrong("%q is no layout, %s", first, behaviour.Instead(first, names))
	}
	return value{}.layout()
}
