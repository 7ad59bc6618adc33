package hdfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs/hdfs/ipc"
	"usertrail/internal/store/dfs/hdfs/transfer"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
)

// ErrInsecure is wrapped if a connection cannot be secured as the configuration requires.
var ErrInsecure = exit.New(exit.Usage, "no secure connection to HDFS")

// exchangeTime limits the time of an exchange with a NameNode or a KDC.
const exchangeTime = 30 * time.Second

// privileged is the number of ports that only the superuser of a machine can listen on. A DataNode
// on such a port is trusted because of the port, and speaks without SASL.
const privileged = 1024

// A security determines how the connections to a cluster are secured.
type security struct {
	identity *secure.Identity
	service  string // of the cluster's tokens, if it has several NameNodes
	nameNode string // principal; _HOST stands for the host
	pattern  string // which principals are accepted in its place
	rpc      sasl.Policy
	data     *transfer.Config // nil if DataNodes speak without SASL
}

// newSecurity returns the security settings of the configuration, nil if the cluster is not secured.
// authority is the part of a name between hdfs:// and the path.
func newSecurity(conf *hadoopconf.Conf, id *secure.Identity, authority string) (*security, error) {
	c, err := conf.HDFSSecurity()
	if err != nil {
		return nil, err
	}
	if !c.Kerberos {
		return nil, id.Demands("core-site.xml does not set hadoop.security.authentication to kerberos")
	}
	s := &security{identity: id, service: "ha-hdfs:" + authority, nameNode: c.NameNode, pattern: c.NameNodePattern}
	if s.rpc, err = id.Policy(c.Protections, hadoopconf.RPCProtection, false); err != nil {
		return nil, err
	}
	aes := false
	for _, suite := range c.Suites {
		aes = aes || strings.EqualFold(suite, "AES/CTR/NoPadding")
	}
	switch {
	case c.Encrypted && !aes:
		return nil, fmt.Errorf("%w: dfs.encrypt.data.transfer is not supported without dfs.encrypt.data.transfer.cipher.suites AES/CTR/NoPadding: set that, or dfs.data.transfer.protection", ErrInsecure)
	case c.Encrypted: // the library makes the exchange
	case len(c.Data) > 0:
		p, err := id.Policy(c.Data, hadoopconf.DataProtection, false)
		if err != nil {
			return nil, err
		}
		s.data = &transfer.Config{Policy: p, AES: aes}
	default:
		if p, _ := id.Policy(nil, "", false); p.Least > sasl.Authentication {
			return nil, fmt.Errorf("%w: %s is demanded, and hdfs-site.xml sets no dfs.data.transfer.protection", secure.ErrPolicy, p.Why)
		}
	}
	return s, nil
}

// user returns the name of the user: of the token for the cluster, or who logs in.
func (s *security) user(addresses []string) (string, error) {
	t, ok, err := s.token(addresses...)
	if err != nil {
		return "", err
	}
	if ok {
		o, err := t.Owner()
		return o.User, err
	}
	return s.identity.User()
}

// token returns the token for NameNodes. Its service is the IP address or the name of a NameNode
// with the port, or ha-hdfs:NAMESERVICE.
func (s *security) token(addresses ...string) (token.Token, bool, error) {
	all, err := s.identity.Tokens()
	if err != nil || len(all) == 0 {
		return token.Token{}, false, err
	}
	services := []string{s.service}
	for _, addr := range addresses {
		services = append(services, addr)
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			continue
		}
		ips, _ := net.LookupIP(host)
		for _, ip := range ips {
			services = append(services, net.JoinHostPort(ip.String(), port))
		}
	}
	return s.identity.Token(token.HDFS, services...)
}

// secureRPC makes the exchange with a NameNode on nc.
func (s *security) secureRPC(ctx context.Context, nc net.Conn, addr string) (*ipc.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	c, err := ipc.Secure(nc, func(offers []ipc.Auth) (ipc.Auth, sasl.Mechanism, error) { return s.choose(ctx, addr, offers) })
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		nc.Close()
		return nil, s.explain(addr, err)
	}
	return c, nil
}

// choose chooses the offer for which the user has a token, or Kerberos if there is no token.
func (s *security) choose(ctx context.Context, addr string, offers []ipc.Auth) (ipc.Auth, sasl.Mechanism, error) {
	t, ok, err := s.token(addr)
	if err != nil {
		return ipc.Auth{}, nil, err
	}
	if a, offered := ipc.Offered(offers, "TOKEN"); ok && offered {
		return a, sasl.NewDigest(sasl.TokenSecret(t.Identifier, t.Password), a.Protocol, a.Server, s.rpc), nil
	}
	a, offered := ipc.Offered(offers, "KERBEROS")
	if !offered || a.Mechanism != "GSSAPI" {
		return ipc.Auth{}, nil, ipc.ErrSimple
	}
	principal, err := s.principal(addr, a)
	if err != nil {
		return ipc.Auth{}, nil, err
	}
	m, err := s.identity.GSSAPI(ctx, principal, s.rpc)
	return a, m, err
}

// principal returns the principal of the NameNode. It fails if the NameNode announces another principal.
func (s *security) principal(addr string, a ipc.Auth) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	if s.pattern != "" {
		if ok, err := path.Match(s.pattern, a.Principal()); !ok || err != nil {
			if ok, err = path.Match(s.pattern, a.Principal()+"@"+realmOf(s.nameNode)); !ok || err != nil {
				return "", fmt.Errorf("%w: it says that it is %s, and dfs.namenode.kerberos.principal.pattern is %s", errImpostor, a.Principal(), s.pattern)
			}
		}
		p, err := secure.Principal(a.Principal(), host, hadoopconf.NameNodePrincipal)
		if realm := realmOf(s.nameNode); realm != "" {
			p += "@" + realm
		}
		return p, err
	}
	p, err := secure.Principal(s.nameNode, host, hadoopconf.NameNodePrincipal)
	if err != nil {
		return "", err
	}
	if name, _, _ := strings.Cut(p, "@"); name != a.Principal() {
		return "", fmt.Errorf("%w: it says that it is %s, and %s for %s is %s. Name it by the host of its principal, or correct the property", errImpostor, a.Principal(), hadoopconf.NameNodePrincipal, host, p)
	}
	return p, nil
}

// errImpostor is wrapped if a NameNode has another principal than the configuration.
var errImpostor = errors.New("the NameNode has another principal")

func realmOf(principal string) string {
	_, realm, _ := strings.Cut(principal, "@")
	return realm
}

// explain returns what an error of an exchange means.
func (s *security) explain(addr string, err error) error {
	is := func(target error) bool { return errors.Is(err, target) }
	server, refused := errors.AsType[*ipc.ServerError](err)
	switch {
	case exit.Of(err) == exit.Usage || exit.Of(err) == exit.NotNow:
		return err
	case is(ipc.ErrSimple):
		return fmt.Errorf("%w: NameNode %s: %w: set hadoop.security.authentication to simple in core-site.xml if that is right. Nothing was sent to it", ErrInsecure, addr, err)
	case refused && strings.Contains(server.Message, "GSS initiate failed"):
		if p, wrong := secure.Principal(s.nameNode, hostOf(addr), hadoopconf.NameNodePrincipal); wrong == nil {
			s.identity.Forget(p) // the server may have new keys
		}
		return fmt.Errorf("%w: NameNode %s: %w: is its principal in hdfs-site.xml right? Its log says more", ErrInsecure, addr, err)
	case refused && strings.HasSuffix(server.Class, "InvalidToken"):
		return fmt.Errorf("%w: NameNode %s: %w: %s", ErrInsecure, addr, err, token.Advice)
	case refused, is(errImpostor), is(sasl.ErrWeak), is(sasl.ErrProtocol), is(sasl.ErrPassword), is(gss.ErrServer), is(gss.ErrToken), is(etype.ErrForged):
		return fmt.Errorf("%w: NameNode %s: %w", ErrInsecure, addr, err)
	}
	return err
}

func hostOf(addr string) string {
	host, _, _ := net.SplitHostPort(addr)
	return host
}

// secureData returns a connection to a DataNode that is secured when the library begins to use it.
func (s *security) secureData(nc net.Conn, addr string) net.Conn {
	_, port, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(port)
	if s.data == nil || n > 0 && n < privileged && s.data.Policy.Least <= sasl.Authentication {
		return nc
	}
	return transfer.New(nc, *s.data)
}

// unproved is a connection to a NameNode without Kerberos. The library does not understand the
// refusal of a NameNode with Kerberos, which comes in place of the first response.
type unproved struct {
	net.Conn
	addr    string
	refused *atomic.Pointer[error]
	first   []byte
}

// noSimple is in the refusal (org.apache.hadoop.ipc.Server).
const noSimple = "SIMPLE authentication is not enabled"

func (u *unproved) Read(b []byte) (int, error) {
	n, err := u.Conn.Read(b)
	if len(u.first) < 4*len(noSimple) {
		u.first = append(u.first, b[:n]...)
		if bytes.Contains(u.first, []byte(noSimple)) {
			err = fmt.Errorf("%w: NameNode %s: %s: the cluster has Kerberos: set hadoop.security.authentication to kerberos in core-site.xml of $HADOOP_CONF_DIR", ErrInsecure, u.addr, noSimple)
			u.refused.Store(&err)
			return 0, err
		}
	}
	return n, err
}

// A final error of an exchange ends all attempts. The library keeps only its text.
func final(err error) bool { return exit.Of(err) == exit.Usage }
