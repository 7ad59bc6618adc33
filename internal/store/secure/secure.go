// Package secure holds the identity of a client on clusters with Kerberos or TLS, and the protection
// of its connections.
//
//	sasl       the exchanges that prove both sides, and the protection of later messages
//	gss        contexts of Kerberos, on which sasl builds
//	etype      the encryption types of Kerberos
//	kerberos   tickets from a keytab or a ticket cache
//	token      files of Hadoop's delegation tokens
//	certs      certificates of TLS
//
// A program has one Identity. Nothing is read and no KDC is asked before a server wants to know
// who the client is.
package secure

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/secure/kerberos"
	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
)

// ErrPolicy is wrapped if the configuration of a cluster allows less protection than the user
// demands.
var ErrPolicy = exit.New(exit.Usage, "protection of connections")

// A Config has the credentials of the user and the least protection. The zero Config is the user of the ticket
// cache, with the protection of Hadoop's configuration.
type Config struct {
	Kerberos kerberos.Config
	Tokens   string          // a file of tokens; $HADOOP_TOKEN_FILE_LOCATION
	Least    sasl.Protection // of every connection; 0 demands nothing
}

// An Identity is the user of a program. Many goroutines may use it.
type Identity struct {
	mu     sync.Mutex
	cfg    Config
	login  *kerberos.Login // nil until it is needed
	tokens []token.Token
	read   bool // tokens were read
}

// New returns the identity of a configuration.
func New(cfg Config) *Identity { return &Identity{cfg: cfg} }

// Change changes the configuration, for settings that are known late. It does nothing to
// connections that exist.
func (i *Identity) Change(f func(*Config)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f(&i.cfg)
	i.login, i.tokens, i.read = nil, nil, false
}

// Login returns the user's login at Kerberos. The first call reads the credentials.
func (i *Identity) Login() (*kerberos.Login, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.login != nil {
		return i.login, nil
	}
	l, err := kerberos.Open(i.cfg.Kerberos)
	i.login = l
	return l, err
}

// User returns the user's principal, or an error if there are no credentials.
func (i *Identity) User() (string, error) {
	l, err := i.Login()
	if err != nil {
		return "", err
	}
	return l.User().String(), nil
}

// Tokens returns the tokens of the program's file. Without a file it returns none.
func (i *Identity) Tokens() ([]token.Token, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.read {
		return i.tokens, nil
	}
	file := i.cfg.Tokens
	if file == "" {
		file = os.Getenv(token.Variable)
	}
	if file == "" {
		i.read = true
		return nil, nil
	}
	all, err := token.Load(file)
	if err == nil {
		i.tokens, i.read = all, true
	}
	return i.tokens, err
}

// Token returns the token of a kind for one of some names of a service. ok is false if the program's
// file has none. A token that has expired is an error.
func (i *Identity) Token(kind string, services ...string) (t token.Token, ok bool, err error) {
	all, err := i.Tokens()
	if err != nil {
		return t, false, err
	}
	if t, ok = token.Find(all, kind, services...); ok {
		err = t.Check(time.Now())
	}
	return t, ok, err
}

// Policy returns which protections connections may have. listed are those that a property of the
// configuration lists, which is named property. sealed reports that the connections are sealed
// already, by TLS.
func (i *Identity) Policy(listed []string, property string, sealed bool) (sasl.Policy, error) {
	i.mu.Lock()
	least := i.cfg.Least
	i.mu.Unlock()
	p := sasl.Policy{Why: property}
	for _, name := range listed {
		one, err := sasl.ParseProtection(name)
		if err != nil {
			return p, fmt.Errorf("%w: %s: %w", ErrPolicy, property, err)
		}
		p.Listed = append(p.Listed, one)
	}
	if !sealed && least > sasl.Authentication {
		p.Least, p.Why = least, "--protection "+least.String()
	}
	return p, nil
}

// Demands returns an error if connections without any protection are not allowed. what describes
// such a connection in the error.
func (i *Identity) Demands(what string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cfg.Least == 0 {
		return nil
	}
	return fmt.Errorf("%w: --protection %s is demanded, and %s", ErrPolicy, i.cfg.Least, what)
}

// GSSAPI returns an exchange with a service, by a ticket.
func (i *Identity) GSSAPI(ctx context.Context, service string, p sasl.Policy) (sasl.Mechanism, error) {
	l, err := i.Login()
	if err != nil {
		return nil, err
	}
	t, err := l.Ticket(ctx, service)
	if err != nil {
		return nil, err
	}
	return sasl.NewGSSAPI(t, p), nil
}

// Forget drops the ticket for a service, which has refused it.
func (i *Identity) Forget(service string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.login != nil {
		i.login.Forget(service)
	}
}

// Principal returns the principal of a server at a host. In the configured principal _HOST stands
// for the host, in lower case. property is where it is configured.
func Principal(configured, host, property string) (string, error) {
	if configured == "" {
		return "", fmt.Errorf("%w: %s is not set: the cluster has Kerberos, and a client must know its servers' principal", ErrPolicy, property)
	}
	name, realm, _ := strings.Cut(configured, "@")
	service, instance, two := strings.Cut(name, "/")
	if !two || service == "" || instance == "" {
		return "", fmt.Errorf("%w: %s: %q is not SERVICE/HOST@REALM", ErrPolicy, property, configured)
	}
	if instance == "_HOST" {
		instance = strings.ToLower(host)
	}
	p := service + "/" + instance
	if realm != "" {
		p += "@" + realm
	}
	return p, nil
}
