package dfs

import (
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"strings"
	"syscall"
)

// A Resolver is an FS in which several names may refer to one place.
type Resolver interface {
	// Real returns the one name of a place. It is the same for each name that refers to
	// the place: absolute, without links, "." and "..". The place need not exist.
	Real(ctx context.Context, name string) (string, error)
}

// Real implements Resolver. It calls the function Real.
func (m *Mux) Real(ctx context.Context, name string) (string, error) {
	fs, err := m.For(name)
	if err != nil {
		return "", err
	}
	return Real(ctx, fs, name)
}

// Real returns the one name of a place. If fs is not a Resolver, Real returns name without
// "." and "..".
func Real(ctx context.Context, fs FS, name string) (string, error) {
	if r, ok := fs.(Resolver); ok {
		return r.Real(ctx, name)
	}
	return clean(name), nil
}

func clean(name string) string {
	root, rest := cutRoot(name)
	if rest = path.Clean(rest); rest == "." && root != "" {
		return root
	}
	return Join(root, rest)
}

// Twofold reports whether ".." follows a link in name. Such a name refers to one place if it
// is opened, and to another place if ".." is removed from the text of the name.
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

// IsLink reports whether name is a link itself, whatever its parents are.
func IsLink(ctx context.Context, fs FS, name string) (bool, error) {
	real, err := Real(ctx, fs, name)
	loops := errors.Is(err, syscall.ELOOP)
	if err != nil && !loops {
		return false, err
	}
	parent, err := Real(ctx, fs, Dir(name))
	return err == nil && (loops || real != Join(parent, Base(name))), err
}

// LinkToNothing returns the link because of which name does not exist: name itself or a directory
// above it. It returns "" if name exists, or if no such link is in the way.
func LinkToNothing(ctx context.Context, fs FS, name string) (link string, err error) {
	for {
		if _, err := fs.Stat(ctx, name); !errors.Is(err, iofs.ErrNotExist) {
			return "", nil //nolint:nilerr // no link is the cause
		}
		if is, err := IsLink(ctx, fs, name); is || err != nil {
			return name, err
		}
		above := Dir(name)
		if above == name {
			return "", nil
		}
		name = above
	}
}

// Holds reports whether the place called name is dir or is below it. Either place may have
// several names, and need not exist.
func Holds(ctx context.Context, fs FS, dir, name string) (bool, error) {
	how, err := Overlap(ctx, fs, dir, name)
	return how == "is" || how == "holds", err
}

// Overlap compares two places. It returns "is" if name is the same place as other,
// "is inside" if name is below other, "holds" if other is below name, and "" otherwise.
// The places need not exist.
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

// below reports whether the real name is dir or is below it.
func below(name, dir string) bool {
	return strings.HasPrefix(name+"/", strings.TrimRight(dir, "/")+"/")
}
