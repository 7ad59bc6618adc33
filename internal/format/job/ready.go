package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"usertrail/internal/behaviour"
	"usertrail/internal/store/dfs"
)

// A Marker holds the path of the files that mark a day's logs as complete.
type Marker struct{ pattern Pattern }

// readMarker reads the path of the markers.
func (b *builder) readMarker() {
	v := b.logs.get("ready")
	if !v.given() {
		return
	}
	s, ok := v.word()
	if !ok {
		return
	}
	m := new(Marker)
	for _, k := range b.job.Behaviours {
		m.pattern.paths = append(m.pattern.paths, k.Path)
	}
	g, static, err := compile(b.doc.folder(), s, m.pattern.paths)
	switch {
	case err != nil:
		v.wrong("%v", err)
		return
	case !g.dated:
		v.wrong("a marker belongs to one day: put {date} in its path")
		return
	}
	m.pattern.globs = []glob{g}
	if err := m.pattern.setRoot(b.doc.folder(), []string{static}); err != nil {
		v.wrong("%v", err)
		return
	}
	b.job.Marker = m
}

// A Marked reports whether a day and kind have a marker.
type Marked func(d behaviour.Date, kind int) bool

// Find looks for the markers of the given days. A folder that does not exist has no markers.
// If the markers' path does not have the behaviour, a marker is for all behaviours of its
// day.
func (m *Marker) Find(ctx context.Context, files dfs.FS, span behaviour.Span) (Marked, error) {
	type dayKind struct {
		date behaviour.Date
		kind int
	}
	g := &m.pattern.globs[0]
	f := finder{files: files, span: span, paths: m.pattern.paths, wanted: make([]bool, len(m.pattern.paths)), glob: g, seen: map[string]bool{}}
	for i := range f.wanted {
		f.wanted[i] = true
	}
	err := f.walk(ctx, g.base, "", 0, g.start())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("job: find markers: %w", err)
	}
	there := map[dayKind]bool{}
	for _, in := range f.found.Inputs {
		there[dayKind{*in.Date, in.Kind}] = true
	}
	return func(d behaviour.Date, kind int) bool { return there[dayKind{d, kind}] || there[dayKind{d, -1}] }, nil
}

// Path returns the expected path of the marker of a day and kind, with wildcards.
func (m *Marker) Path(d behaviour.Date, kind int) string {
	return m.pattern.globs[0].at(d, m.pattern.paths[kind])
}

// PerKind reports whether each behaviour has a marker of its own.
func (m *Marker) PerKind() bool { return m.pattern.globs[0].kinded }
