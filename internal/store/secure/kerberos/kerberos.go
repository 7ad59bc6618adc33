// Package kerberos gets tickets from a KDC, with github.com/jcmturner/gokrb5/v8. A user's key is
// in a keytab, or the user's ticket is in a ticket cache:
//
//	keytab         /etc/security/usertrail.keytab      the MIT format, with AES keys
//	ticket cache   FILE:/tmp/krb5cc_1000               the MIT formats 1 to 4
//	               DIR:/run/user/1000/krb5cc           its file "primary" names the file
//
// KEYRING:, KCM:, API:, MEMORY: and MSLSA: are refused by name. The configuration is krb5.conf,
// with include and includedir.
//
// With a keytab a Login gets a new ticket whenever the old one is about to end, so that it lasts
// as long as the program. Tickets from a cache are renewed as long as the KDC allows. After that
// the cache is read again, in case that kinit has written it.
package kerberos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"usertrail/internal/store/secure/etype"
	"usertrail/internal/store/secure/gss"
)

// A Config determines the user. A zero field means the default in the comment next to it.
type Config struct {
	Principal string // user@REALM; the only principal of the keytab, or the principal of the cache
	Keytab    string // a file; none: the ticket cache is used
	Cache     string // of tickets; $KRB5CCNAME, else default_ccache_name of krb5.conf, else FILE:/tmp/krb5cc_UID
	Krb5Conf  string // files between colons; $KRB5_CONFIG, else /etc/krb5.conf
}

// margin is the least time that a ticket must still be valid to be used, unless it is valid for
// less than ten times as long.
const margin = 5 * time.Minute

// A Login is a user of a realm. Many goroutines may use it.
type Login struct {
	cfg    Config
	conf   *config.Config
	source string // of the credentials, for messages
	user   gss.Principal
	client *client.Client

	// busy is held by the goroutine that speaks with the KDC. It is a channel so that others can
	// stop waiting.
	busy chan struct{}

	mu       sync.Mutex
	tgt      *grant
	services map[string]*grant
}

// A grant is a ticket as gokrb5 has it.
type grant struct {
	ticket    messages.Ticket
	key       types.EncryptionKey
	start     time.Time
	end       time.Time
	renewTill time.Time
}

// usable reports whether the ticket is valid long enough to be used.
func (g *grant) usable(now time.Time) bool {
	return g != nil && g.end.Sub(now) > min(margin, g.end.Sub(g.start)/10)
}

// Open reads the configuration and the credentials. It does not speak with a KDC.
func Open(cfg Config) (*Login, error) {
	c, err := loadConf(cfg.Krb5Conf)
	if err != nil {
		return nil, err
	}
	l := &Login{cfg: cfg, conf: c.Config, busy: make(chan struct{}, 1), services: map[string]*grant{}}
	if cfg.Keytab != "" {
		err = l.openKeytab()
	} else if l.cfg.Cache, err = cacheFile(cmp.Or(cfg.Cache, defaultCache(c))); err == nil {
		l.tgt, err = l.openCache()
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// User returns the user's principal.
func (l *Login) User() gss.Principal { return l.user }

// Source returns the origin of the credentials: "keytab FILE" or "ticket cache FILE".
func (l *Login) Source() string { return l.source }

// Realm returns the default realm of krb5.conf.
func (l *Login) Realm() string { return l.conf.LibDefaults.DefaultRealm }

// openKeytab reads the keytab, and asks the KDC only for tickets of the types of its keys.
func (l *Login) openKeytab() error {
	l.source = "keytab " + l.cfg.Keytab
	var keys *keytab.Keytab
	err := guard("keytab", l.cfg.Keytab, func() (err error) {
		keys, err = keytab.Load(l.cfg.Keytab)
		return err
	})
	if err != nil {
		return err
	}
	has := map[string][]int32{}
	for _, e := range keys.Entries {
		name := strings.Join(e.Principal.Components, "/") + "@" + e.Principal.Realm
		if etype.Supported(etype.ID(e.Key.KeyType)) {
			has[name] = append(has[name], e.Key.KeyType)
		} else if has[name] == nil {
			has[name] = []int32{}
		}
	}
	name, err := l.choose(slices.Sorted(maps.Keys(has)))
	if err != nil {
		return err
	}
	if len(has[name]) == 0 {
		return fmt.Errorf("%w: %s has no AES key of %s: make the keytab with aes256-cts-hmac-sha1-96 keys", ErrCredentials, l.source, name)
	}
	l.user = parsePrincipal(name)
	l.conf.LibDefaults.DefaultTktEnctypeIDs = slices.DeleteFunc(slices.Clone(l.conf.LibDefaults.DefaultTktEnctypeIDs), func(id int32) bool {
		return !slices.Contains(has[name], id)
	})
	if len(l.conf.LibDefaults.DefaultTktEnctypeIDs) == 0 {
		l.conf.LibDefaults.DefaultTktEnctypeIDs = has[name]
	}
	l.client = client.NewWithKeytab(strings.Join(l.user.Names, "/"), l.user.Realm, keys, l.conf, client.DisablePAFXFAST(true))
	return nil
}

// choose returns the wanted principal of a keytab, or the only one.
func (l *Login) choose(all []string) (string, error) {
	want := l.cfg.Principal
	if want != "" && !strings.Contains(want, "@") {
		want += "@" + l.conf.LibDefaults.DefaultRealm
	}
	switch {
	case len(all) == 0:
		return "", fmt.Errorf("%w: %s has no key", ErrCredentials, l.source)
	case want == "" && len(all) > 1:
		return "", fmt.Errorf("%w: %s has keys of %s: choose one with --principal", ErrCredentials, l.source, strings.Join(all, ", "))
	case want == "":
		return all[0], nil
	case !slices.Contains(all, want):
		return "", fmt.Errorf("%w: %s has no key of %s, but of %s", ErrCredentials, l.source, want, strings.Join(all, ", "))
	}
	return want, nil
}

// parsePrincipal parses names/name@REALM.
func parsePrincipal(s string) gss.Principal {
	name, realm := s, ""
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		name, realm = s[:i], s[i+1:]
	}
	return gss.Principal{Names: strings.Split(name, "/"), Type: nametype.KRB_NT_PRINCIPAL, Realm: realm}
}

// Ticket returns a ticket for a service, written as names/name@REALM. Without a realm it is in the
// realm of its host in krb5.conf, or in the user's.
func (l *Login) Ticket(ctx context.Context, service string) (*gss.Ticket, error) {
	p := parsePrincipal(service)
	if p.Realm == "" {
		p.Realm = cmp.Or(l.conf.ResolveRealm(p.Names[len(p.Names)-1]), l.user.Realm)
	}
	name := p.String()
	if g := l.cached(name); g != nil {
		return l.ticket(p, g)
	}
	var g *grant
	err := l.alone(ctx, func() error {
		if g = l.cached(name); g != nil { // another goroutine got it
			return nil
		}
		var err error
		if g, err = l.fetch(p); err != nil {
			return l.explain(err, "get a ticket for "+name)
		}
		l.mu.Lock()
		l.services[name] = g
		l.mu.Unlock()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l.ticket(p, g)
}

// Check gets a ticket of the user, to see whether the KDC responds and accepts the user's
// credentials. It returns the end of the ticket.
func (l *Login) Check(ctx context.Context) (time.Time, error) {
	var end time.Time
	err := l.alone(ctx, func() error {
		g, err := l.granting()
		if err != nil {
			return l.explain(err, "log in")
		}
		end = g.end
		return nil
	})
	return end, err
}

// Forget drops the ticket for a service. The service has refused it, because it has new keys.
func (l *Login) Forget(service string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.services {
		if name == service || strings.HasPrefix(name, service+"@") {
			delete(l.services, name)
		}
	}
}

func (l *Login) cached(name string) *grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.services[name]; g.usable(time.Now()) {
		return g
	}
	return nil
}

// alone runs f while no other goroutine speaks with the KDC. gokrb5 cannot be interrupted, so f
// may outlive ctx, by at most ten seconds for each KDC.
func (l *Login) alone(ctx context.Context, f func() error) error {
	select {
	case l.busy <- struct{}{}:
	case <-ctx.Done():
		return l.waited(ctx)
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-l.busy }()
		done <- guarded(f)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return l.waited(ctx)
	}
}

// waited returns the error of a goroutine whose ctx has ended before the KDC has responded to it.
func (l *Login) waited(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Errorf("%w: realm %s: there was no response within the time of one attempt", ErrSilent, l.user.Realm)
	}
	return cause
}

// fetch gets a ticket for a service from the KDC of its realm. If the KDC says that the user's ticket
// has ended, because its clock is ahead, fetch gets another one first.
func (l *Login) fetch(service gss.Principal) (*grant, error) {
	g, err := l.fetchOnce(service)
	if err == nil || codeOf(err) != gss.CodeTicketExpired {
		return g, err
	}
	l.mu.Lock()
	l.tgt = nil
	l.mu.Unlock()
	return l.fetchOnce(service)
}

func (l *Login) fetchOnce(service gss.Principal) (*grant, error) {
	tgt, err := l.granting()
	if err != nil {
		return nil, err
	}
	if service.Realm != l.user.Realm {
		if tgt, err = l.exchange(ticketGranting(service.Realm), l.user.Realm, tgt, false); err != nil {
			return nil, err
		}
	}
	name := types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: service.Names}
	return l.exchange(name, service.Realm, tgt, false)
}

// exchange gets or renews a ticket.
func (l *Login) exchange(name types.PrincipalName, realm string, tgt *grant, renew bool) (*grant, error) {
	_, rep, err := l.client.TGSREQGenerateAndExchange(name, realm, tgt.ticket, tgt.key, renew)
	if err != nil {
		return nil, err
	}
	return granted(rep.Ticket, rep.DecryptedEncPart), nil
}

func granted(t messages.Ticket, part messages.EncKDCRepPart) *grant {
	start := part.StartTime
	if start.IsZero() {
		start = part.AuthTime
	}
	return &grant{ticket: t, key: part.Key, start: start, end: part.EndTime, renewTill: part.RenewTill}
}

func ticketGranting(realm string) types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
}

// granting returns the user's ticket-granting ticket. If it is about to end, it gets another one.
// If that fails, the old one is used until its end.
func (l *Login) granting() (*grant, error) {
	l.mu.Lock()
	old := l.tgt
	l.mu.Unlock()
	now := time.Now()
	if old.usable(now) {
		return old, nil
	}
	g, err := l.again(old, now)
	switch {
	case err == nil:
		l.mu.Lock()
		l.tgt = g
		l.mu.Unlock()
		return g, nil
	case old != nil && now.Before(old.end):
		return old, nil
	}
	return nil, err
}

// again gets a new ticket-granting ticket.
func (l *Login) again(old *grant, now time.Time) (*grant, error) {
	if l.cfg.Keytab != "" {
		return l.logIn()
	}
	g, err := l.openCache()
	if err != nil {
		return nil, err
	}
	if old != nil && old.end.After(g.end) {
		g = old // it was renewed here
	}
	switch {
	case g.usable(now):
		return g, nil
	case now.After(g.end):
		return nil, fmt.Errorf("%w: the ticket of %s in the %s ended at %s: run kinit, or use --keytab", ErrExpired, l.user, l.source, g.end.Local().Format(time.DateTime))
	case now.Before(g.renewTill):
		if renewed, err := l.exchange(ticketGranting(l.user.Realm), l.user.Realm, g, true); err == nil {
			return renewed, nil
		}
	}
	return g, nil
}

// logIn gets a ticket-granting ticket with the keytab's key.
func (l *Login) logIn() (*grant, error) {
	req, err := messages.NewASReqForTGT(l.user.Realm, l.conf, l.client.Credentials.CName())
	if err != nil {
		return nil, err
	}
	rep, err := l.client.ASExchange(l.user.Realm, req, 0)
	if err != nil {
		return nil, err
	}
	return granted(rep.Ticket, rep.DecryptedEncPart), nil
}

// ticket returns a grant in the form of package gss.
func (l *Login) ticket(service gss.Principal, g *grant) (*gss.Ticket, error) {
	der, err := g.ticket.Marshal()
	if err != nil {
		return nil, fmt.Errorf("ticket for %s: %w", service, err)
	}
	t := &gss.Ticket{Client: l.user, Service: service, DER: der, Key: etype.Key{Type: etype.ID(g.key.KeyType), Bytes: g.key.KeyValue}, Expires: g.end}
	if !etype.Supported(t.Key.Type) {
		return nil, fmt.Errorf("%w: ticket for %s: type %d: %w", ErrCredentials, service, t.Key.Type, etype.ErrUnsupported)
	}
	return t, nil
}

// guarded runs f. gokrb5 panics at some malformed messages.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed message of Kerberos: %v", r)
		}
	}()
	return f()
}

// guard reads a file of credentials by f.
func guard(what, file string, f func() error) error {
	err := guarded(f)
	if err == nil {
		return nil
	}
	var path *fs.PathError // names the file
	if errors.As(err, &path) {
		return fmt.Errorf("%w: %s: %w", ErrCredentials, what, err)
	}
	return fmt.Errorf("%w: %s %s: %w", ErrCredentials, what, file, err)
}
