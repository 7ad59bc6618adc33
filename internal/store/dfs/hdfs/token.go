package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"

	"usertrail/internal/store/secure/token"
)

// Delegate implements dfs.Delegator. If the user has only a token for the cluster, Delegate returns
// this token, because the NameNode issues tokens only to users who log in with Kerberos. The
// token's service is ha-hdfs:NAMESERVICE, or the IP address and the port of the NameNode, as
// Hadoop's clients look for it.
func (s *system) Delegate(ctx context.Context, name, renewer string) (t token.Token, ok bool, err error) {
	p, err := s.begin(ctx, "get a token for", name)
	if err != nil || p.security == nil {
		return t, false, err
	}
	if t, ok, err = p.security.token(p.addresses...); ok || err != nil {
		return t, ok, err
	}
	t, err = p.delegate(ctx, renewer)
	if err != nil {
		return t, false, &fs.PathError{Op: "get a token for", Path: name, Err: err}
	}
	return t, true, nil
}

// delegate gets a token from the NameNode that responds.
func (c *cluster) delegate(ctx context.Context, renewer string) (token.Token, error) {
	var errs []error
	for _, addr := range c.addresses {
		t, err := c.delegateAt(ctx, addr, renewer)
		if err == nil {
			if t.Service = c.security.service; len(c.addresses) == 1 {
				t.Service, err = ipOf(ctx, addr)
			}
			return t, err
		}
		errs = append(errs, err)
	}
	return token.Token{}, errors.Join(errs...)
}

// delegateAt gets a token from one NameNode.
func (c *cluster) delegateAt(ctx context.Context, addr, renewer string) (token.Token, error) {
	nc, err := c.connect(ctx, "tcp", addr)
	if err != nil {
		return token.Token{}, fmt.Errorf("NameNode %s: %w", addr, err)
	}
	defer nc.Close()
	secured, err := c.security.secureRPC(ctx, &conn{Conn: nc, limit: c.silence}, addr)
	if err != nil {
		return token.Token{}, err
	}
	t, err := secured.DelegationToken(c.user, renewer)
	if err != nil {
		return t, c.security.explain(addr, err)
	}
	return t, nil
}

// ipOf returns addr with the IP address of its host.
func ipOf(ctx context.Context, addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(ips[0], port), nil
}
