package hbase

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure"
	"usertrail/internal/store/secure/certs"
	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
)

// A Security secures the connections of a client. Both sides prove who they are, and the client
// never accepts less protection than the configuration requires.
type Security struct {
	identity     *secure.Identity
	kerberos     bool
	master       string // principals of servers, in which _HOST stands for the host
	regionServer string
	policy       sasl.Policy
	tls          *tls.Config // nil is no TLS
}

// NewSecurity returns the Security that hbase-site.xml requires, for a user. It returns nil if
// the cluster is not secured.
func NewSecurity(conf *hadoopconf.Conf, id *secure.Identity) (*Security, error) {
	c, err := conf.HBaseSecurity()
	if err != nil {
		return nil, err
	}
	s := &Security{identity: id, kerberos: c.Kerberos, master: c.Master, regionServer: c.RegionServer}
	if c.TLS {
		if c.Revocations {
			return nil, fmt.Errorf("%w: hbase.rpc.tls.clr or hbase.rpc.tls.ocsp asks for checks of revoked certificates, which are not supported", secure.ErrPolicy)
		}
		client := certs.Client{Trust: store(c.Trust), Key: store(c.Key), AnyName: c.AnyName, Versions: c.Versions}
		if s.tls, err = client.Config(); err != nil {
			return nil, err
		}
	}
	switch {
	case c.Kerberos:
		s.policy, err = id.Policy(c.Protections, hadoopconf.HBaseProtection, c.TLS)
	case !c.TLS:
		return nil, id.Demands("hbase-site.xml has neither hbase.security.authentication kerberos nor hbase.client.netty.tls.enabled")
	}
	return s, err
}

func store(s hadoopconf.Store) certs.Store {
	return certs.Store{File: s.Location, Type: s.Type, Password: s.Password}
}

// user returns the name of the client's user, for messages. It is empty if servers believe a name.
func (s *Security) user() (string, error) {
	if s == nil || !s.kerberos {
		return "", nil
	}
	all, err := s.identity.Tokens()
	if err != nil {
		return "", err
	}
	for _, t := range all {
		if o, err := t.Owner(); err == nil && t.Kind == token.HBase {
			return o.User, nil
		}
	}
	return s.identity.User()
}

// apply sets the options of a connection to a server.
func (s *Security) apply(o *rpc.Options, c *Client, addr string, service wire.Service) {
	if s == nil {
		return
	}
	o.TLS = s.tls
	if s.kerberos {
		o.Auth = func(ctx context.Context) (rpc.Auth, error) { return s.auth(ctx, c, addr, service) }
	}
}

// auth returns the exchange with a server: by the cluster's token if there is one, else by a
// ticket.
func (s *Security) auth(ctx context.Context, c *Client, addr string, service wire.Service) (rpc.Auth, error) {
	t, ok, err := s.token(ctx, c)
	if err != nil {
		return rpc.Auth{}, err
	}
	if ok {
		// SaslUtil.SASL_DEFAULT_REALM is the name of every server, and there is no protocol.
		return rpc.Auth{Method: wire.Token, Mechanism: sasl.NewDigest(sasl.TokenSecret(t.Identifier, t.Password), "null", "default", s.policy)}, nil
	}
	principal, err := s.principal(addr, service)
	if err != nil {
		return rpc.Auth{}, err
	}
	m, err := s.identity.GSSAPI(ctx, principal, s.policy)
	return rpc.Auth{Method: wire.Kerberos, Mechanism: m}, err
}

// token returns the token for the cluster, whose service is the cluster's ID.
func (s *Security) token(ctx context.Context, c *Client) (token.Token, bool, error) {
	all, err := s.identity.Tokens()
	if err != nil || len(all) == 0 {
		return token.Token{}, false, err
	}
	// A registry with secured connections does not return the ID before the client has
	// authenticated.
	if z, ok := c.registry.(*zooKeeper); ok {
		id, err := c.knownID(ctx, z)
		if err != nil {
			return token.Token{}, false, err
		}
		return s.identity.Token(token.HBase, id)
	}
	var only []token.Token
	for _, t := range all {
		if t.Kind == token.HBase {
			only = append(only, t)
		}
	}
	if len(only) == 1 {
		return only[0], true, only[0].Check(time.Now())
	}
	return token.Token{}, false, nil
}

// principal returns the principal of a server.
func (s *Security) principal(addr string, service wire.Service) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	configured, property := s.regionServer, hadoopconf.RegionPrincipal
	if service == wire.MasterService || service == wire.ClientMetaService {
		configured, property = s.master, hadoopconf.MasterPrincipal
	}
	return secure.Principal(configured, host, property)
}

// Token gets a delegation token for the client's user. It can be used in place of Kerberos for as
// long as it is valid. If the user has only a token, Token returns this token, because HBase issues
// tokens only to users who log in with Kerberos. ok is false if the cluster has no Kerberos.
func (c *Client) Token(ctx context.Context) (t token.Token, ok bool, err error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return t, false, err
	}
	defer done()
	s := c.cfg.Security
	if s == nil || !s.kerberos {
		return t, false, nil
	}
	if t, ok, err = s.token(ctx, c); ok || err != nil {
		return t, ok, err
	}
	e := retryState{what: "get a delegation token"}
	err = c.callKnown(ctx, &e, c.metaServer, "ExecService", wire.TokenRequest{}, func(r *rpc.Response) (err error) {
		t, err = wire.DecodeToken(r.Param)
		return err
	})
	return t, err == nil, err
}

// forget drops the ticket for a server that has refused it: the server may have new keys.
func (s *Security) forget(addr string, service wire.Service) {
	if s == nil || !s.kerberos {
		return
	}
	if p, err := s.principal(addr, service); err == nil {
		s.identity.Forget(p)
	}
}

// judgeSecurity returns the verdict on an error of TLS or of an exchange, and false for another
// error.
func judgeSecurity(err error) (verdict, bool) {
	if advice := adviceOn(err); advice != "" {
		return verdict{remedy: giveUp, err: ofKind(ErrInsecure, fmt.Errorf("%w: %s", err, advice))}, true
	}
	switch exit.Of(err) {
	case exit.Usage: // of the configuration or the credentials
		return verdict{remedy: giveUp, err: err}, true
	case exit.NotNow: // no KDC responds
		return verdict{remedy: pause, err: unavailable{err}}, true
	}
	if errors.Is(err, etype.ErrForged) {
		return verdict{remedy: repeat, err: ofKind(ErrInsecure, err)}, true
	}
	if server, ok := errors.AsType[*rpc.ServerError](err); ok {
		switch {
		case strings.HasSuffix(server.Name(), "$InvalidToken"), server.Name() == "SaslException" && strings.Contains(server.Message, "DIGEST-MD5"):
			return verdict{remedy: repeat, err: ofKind(ErrInsecure, fmt.Errorf("%w: %s", err, token.Advice))}, true
		case server.Name() == "SaslException":
			// A server that was restarted with other keys accepts a new ticket.
			return verdict{remedy: repeat, err: ofKind(ErrInsecure, fmt.Errorf("%w: compare the principal in hbase-site.xml with the principal of the server, and read the log of the server", err))}, true
		case server.Name() == "AccessDeniedException" && strings.Contains(server.Message, "Authentication is required"):
			return verdict{remedy: giveUp, err: ofKind(ErrInsecure, fmt.Errorf("%w: the cluster has Kerberos: set hbase.security.authentication to kerberos in hbase-site.xml of $HADOOP_CONF_DIR", err))}, true
		}
	}
	return verdict{}, false
}

// adviceOn returns what to do about an error of TLS or of an exchange that no retry solves. It is
// empty for other errors.
func adviceOn(err error) string {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(rpc.ErrSimple):
		return "set hbase.security.authentication to simple in hbase-site.xml if that is right. Nothing was sent to it"
	case is(rpc.ErrNoTLS):
		return "set hbase.client.netty.tls.enabled to false in hbase-site.xml if that is right. Nothing was sent to it"
	case errors.As(err, &name):
		return "the certificate belongs to another server: compare the server's name in HBase with the names in the certificate"
	case errors.As(err, &unknown):
		return "the certificate's authority is not in the trust store that hbase.rpc.tls.truststore.location names"
	case errors.As(err, &invalid):
		return "tell the administrators of HBase, or correct the clock of this machine"
	case errors.As(err, &alert):
		return "the server does not accept this client: hbase.rpc.tls.keystore.location names the store with its certificate"
	case is(sasl.ErrWeak), is(sasl.ErrProtocol), is(sasl.ErrPassword), is(gss.ErrServer), is(gss.ErrToken), is(gss.ErrSequence), is(gss.ErrUnsealed):
		return "nothing was sent to it"
	}
	return ""
}
