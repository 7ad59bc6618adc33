package dfs

import (
	"context"

	"usertrail/internal/store/secure/token"
)

// A Delegator is an FS that issues tokens. A server that receives a token from a client may read and
// move the client's files.
type Delegator interface {
	// Delegate returns a token for the files of the place called name. ok is false if servers
	// need no token there. renewer is the user who may renew the token.
	Delegate(ctx context.Context, name, renewer string) (t token.Token, ok bool, err error)
}

// Delegate implements Delegator. Files of a file system without tokens need none.
func (m *Mux) Delegate(ctx context.Context, name, renewer string) (t token.Token, ok bool, err error) {
	fs, err := m.For(name)
	if err != nil {
		return t, false, err
	}
	return Delegate(ctx, fs, name, renewer)
}

// Delegate returns a token for the files of the place called name, if fs is a Delegator.
func Delegate(ctx context.Context, fs FS, name, renewer string) (t token.Token, ok bool, err error) {
	if d, can := fs.(Delegator); can {
		return d.Delegate(ctx, name, renewer)
	}
	return t, false, nil
}

// DelegateAll returns a token for each file system of some places. Places of file systems without
// tokens need none.
func DelegateAll(ctx context.Context, fs FS, places []string, renewer string) ([]token.Token, error) {
	var all []token.Token
	asked := map[string]bool{}
	for _, place := range places {
		root := Root(place)
		if asked[root] {
			continue
		}
		asked[root] = true
		t, ok, err := Delegate(ctx, fs, place, renewer)
		if err != nil {
			return nil, err
		}
		if _, same := token.Find(all, t.Kind, t.Service); ok && !same { // two names of one file system
			all = append(all, t)
		}
	}
	return all, nil
}
