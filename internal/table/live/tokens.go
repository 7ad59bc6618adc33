package live

import (
	"context"

	"usertrail/internal/store/secure/token"
)

// Tokens returns a delegation token for HBase, or none if the cluster has no Kerberos.
func (s *Store) Tokens(ctx context.Context) ([]token.Token, error) {
	t, ok, err := s.client.Token(ctx)
	if err != nil || !ok {
		return nil, s.address.explain(err)
	}
	return []token.Token{t}, nil
}

// Places returns the directories that loads of the table write, one for each file system.
func (s *Store) Places() []string {
	places := []string{s.dir}
	if staging, err := s.stagingIn(); err == nil { // else no HFiles are staged
		places = append(places, staging)
	}
	return places
}
