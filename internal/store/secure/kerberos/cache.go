package kerberos

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/messages"

	"usertrail/internal/store/secure/gss"
)

// defaultCache returns the name of the ticket cache, with its kind.
func defaultCache(c *conf) string {
	name := cmp.Or(os.Getenv("KRB5CCNAME"), c.cache, "FILE:/tmp/krb5cc_%{uid}")
	uid := strconv.Itoa(os.Getuid())
	temp := cmp.Or(os.Getenv("TMPDIR"), "/tmp")
	return strings.NewReplacer("%{uid}", uid, "%{euid}", strconv.Itoa(os.Geteuid()), "%{USERID}", uid, "%{TEMP}", temp, "%{null}", "").Replace(name)
}

// cacheFile returns the file of a ticket cache.
func cacheFile(name string) (string, error) {
	kind, rest, ok := strings.Cut(name, ":")
	if !ok || strings.Contains(kind, "/") {
		return name, nil
	}
	switch kind {
	case "FILE":
		return rest, nil
	case "DIR":
		return primary(rest)
	}
	return "", fmt.Errorf("%w: %s: caches of the kind %s are not supported. Have the ticket in a file: export KRB5CCNAME=FILE:/tmp/krb5cc_%d, and run kinit. Or use --keytab",
		ErrCredentials, name, kind, os.Getuid())
}

// primary returns the file of a cache of the kind DIR. DIR::FILE names the file itself.
func primary(dir string) (string, error) {
	if file, ok := strings.CutPrefix(dir, ":"); ok {
		return file, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "primary"))
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Join(dir, "tkt"), nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: ticket cache DIR:%s: %w", ErrCredentials, dir, err)
	}
	name := strings.TrimSpace(string(b))
	if !strings.HasPrefix(name, "tkt") || strings.ContainsAny(name, "/\x00") {
		return "", fmt.Errorf("%w: ticket cache DIR:%s: its file primary names %q, and names begin with tkt", ErrCredentials, dir, name)
	}
	return filepath.Join(dir, name), nil
}

// openCache reads the ticket cache. It returns the user's ticket-granting ticket, which may have
// ended.
func (l *Login) openCache() (*grant, error) {
	l.source = "ticket cache " + l.cfg.Cache
	var cache *credentials.CCache
	err := guard("ticket cache", l.cfg.Cache, func() (err error) {
		cache, err = credentials.LoadCCache(l.cfg.Cache)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s: run kinit, or use --keytab", ErrNoTicket, l.source)
	}
	if err != nil {
		return nil, err
	}
	user := gss.Principal{Names: cache.DefaultPrincipal.PrincipalName.NameString, Type: cache.DefaultPrincipal.PrincipalName.NameType, Realm: cache.DefaultPrincipal.Realm}
	if want := l.cfg.Principal; want != "" && want != user.String() && want+"@"+user.Realm != user.String() {
		return nil, fmt.Errorf("%w: the user of the %s is %s, not %s: run kinit %[4]s, or use --keytab", ErrCredentials, l.source, user, want)
	}
	if l.user.Names != nil && l.user.String() != user.String() {
		return nil, fmt.Errorf("%w: the user of the %s was %s, and is now %s", ErrCredentials, l.source, l.user, user)
	}
	g, err := firstGrant(cache, user.Realm)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w: run kinit", ErrNoTicket, l.source, err)
	}
	if l.client != nil {
		return g, nil
	}
	l.user = user
	return g, guard("ticket cache", l.cfg.Cache, func() (err error) {
		l.client, err = client.NewFromCCache(cache, l.conf, client.DisablePAFXFAST(true))
		return err
	})
}

// firstGrant returns the ticket-granting ticket of a cache that ends last.
func firstGrant(cache *credentials.CCache, realm string) (*grant, error) {
	var best *grant
	for _, c := range cache.GetEntries() {
		if !c.Server.PrincipalName.Equal(ticketGranting(realm)) || c.Server.Realm != realm {
			continue
		}
		var t messages.Ticket
		if err := guarded(func() error { return t.Unmarshal(c.Ticket) }); err != nil {
			return nil, err
		}
		start := c.StartTime
		if start.Unix() == 0 {
			start = c.AuthTime
		}
		if best == nil || c.EndTime.After(best.end) {
			best = &grant{ticket: t, key: c.Key, start: start, end: c.EndTime, renewTill: c.RenewTill}
		}
	}
	if best == nil {
		return nil, errors.New("it has no ticket of the user")
	}
	return best, nil
}
