package dfs

import (
	"context"
	"path"
	"strings"
)

// A Resolver is an FS in which several names may lead to one place.
type Resolver interface {
	// Real returns the name of a place that is the same whatever name led to it:
	// absolute, without links, "." and "..". Nothing need be there.
	Real(ctx context.Context, name string) (string, error)
}

// Real implements Resolver, as the function Real does.
func (m *Mux) Real(ctx context.Context, name string) (string, error) {
	fs, err := m.For(name)
	if err != nil {
		return "", err
	}
	return Real(ctx, fs, name)
}

// Real returns the one name of a place. If fs is no Resolver, it is name without "." and
// "..".
func Real(ctx context.Context, fs FS, name string) (string, error) {
	if r, ok := fs.(Resolver); ok {
		return r.Real(ctx, name)
	}
	return clean(name), nil
}

func clean(name string) string {
	root, rest := cutRoot(name)
	return Join(root, path.Clean(rest))
}

// Twofold reports whether ".." follows a link in name. Then it is one place for whoever
// opens it, and another for whoever joins and cuts names.
func Twofold(ctx context.Context, fs FS, name string) (bool, error) {
	if !strings.Contains(name, "..") {
		return false, nil
	}
	opened, err := Real(ctx, fs, name)
	if err != nil {
		return false, err
	}
	cut, err := Real(ctx, fs, clean(name))
	return opened != cut, err
}

// Holds reports whether the place called name is dir or is below it, whatever names lead
// to the two. Nothing need be there.
func Holds(ctx context.Context, fs FS, dir, name string) (bool, error) {
	how, err := Overlap(ctx, fs, dir, name)
	return how == "is" || how == "holds", err
}

// Overlap reports how the place called name lies to the place called other: it "is" other,
// "is inside" it, or "holds" it; "" if the two are apart. Nothing need be there.
func Overlap(ctx context.Context, fs FS, name, other string) (how string, err error) {
	a, err := Real(ctx, fs, name)
	if err != nil {
		return "", err
	}
	b, err := Real(ctx, fs, other)
	if err != nil {
		return "", err
	}
	switch inside, holds := below(a, b), below(b, a); {
	case inside && holds:
		return "is", nil
	case inside:
		return "is inside", nil
	case holds:
		return "holds", nil
	}
	return "", nil
}

// below reports whether a real name is dir or is below it.
func below(name, dir string) bool {
	return strings.HasPrefix(name+"/", strings.TrimRight(dir, "/")+"/")
}
