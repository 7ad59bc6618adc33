package kerberos

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/krberror"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/secure/gss"
)

var (
	// ErrConf is wrapped by errors about krb5.conf.
	ErrConf = exit.New(exit.Usage, "configuration of Kerberos")
	// ErrCredentials is wrapped if a keytab or a ticket cache cannot be used.
	ErrCredentials = exit.New(exit.Usage, "credentials of Kerberos")
	// ErrNoTicket is wrapped if there is neither a ticket nor a keytab.
	ErrNoTicket = exit.New(exit.Usage, "no Kerberos ticket")
	// ErrExpired is wrapped if the ticket in the cache has ended.
	ErrExpired = exit.New(exit.Usage, "the Kerberos ticket has expired")
	// ErrSkew is wrapped if the clocks of the KDC and of this machine differ too much.
	ErrSkew = exit.New(exit.Usage, "the clock differs from that of the KDC")
	// ErrRefused is wrapped if the KDC refuses the user or the service.
	ErrRefused = exit.New(exit.Usage, "the KDC refuses")
	// ErrSilent is wrapped if no KDC responds.
	ErrSilent = exit.New(exit.NotNow, "no KDC responds")
)

// codeIn finds the code of a KDC's error in the text of gokrb5, which does not keep it.
var codeIn = regexp.MustCompile(`KRB Error: \((\d+)\)`)

// codeOf returns the code of a KDC's error, 0 if there is none.
func codeOf(err error) gss.Code {
	m := codeIn.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return gss.Code(n)
}

// explain returns what an error means, and what to do.
func (l *Login) explain(err error, what string) error {
	for _, ours := range []error{ErrConf, ErrCredentials, ErrNoTicket, ErrExpired} {
		if errors.Is(err, ours) {
			return err
		}
	}
	code := codeOf(err)
	who := fmt.Sprintf("%s as %s (%s)", what, l.user, l.source)
	var k krberror.Krberror
	switch {
	case code == gss.CodeSkew:
		return fmt.Errorf("%w: %s: set the clock of this machine by NTP", ErrSkew, who)
	case code == gss.CodeClientUnknown:
		return fmt.Errorf("%w: %s: it does not know the user: is %s the right principal?", ErrRefused, who, l.user)
	case code == gss.CodeServiceUnknown || code == gss.CodeServiceNotHere:
		return fmt.Errorf("%w: %s: it does not know the service: is its principal in hbase-site.xml or hdfs-site.xml right, and the server's host name?", ErrRefused, who)
	case code == gss.CodePreauthFailed || code == gss.CodeBadIntegrity:
		return fmt.Errorf("%w: %s: the key is not the user's now: get a new keytab", ErrRefused, who)
	case code == gss.CodeTicketExpired:
		return fmt.Errorf("%w: %s: run kinit, or use --keytab", ErrExpired, who)
	case code != 0:
		return fmt.Errorf("%w: %s: %s (error %d)", ErrRefused, who, code, int(code))
	case errors.As(err, &k) && k.RootCause == krberror.NetworkingError:
		return fmt.Errorf("%w: realm %s: %s: %s", ErrSilent, l.user.Realm, who, lastPart(err))
	case strings.Contains(err.Error(), "clock skew"):
		return fmt.Errorf("%w: %s: set the clock of this machine by NTP", ErrSkew, who)
	case strings.Contains(err.Error(), "no KDC SRV records"), strings.Contains(err.Error(), "no KDCs defined"):
		return fmt.Errorf("%w: krb5.conf names no KDC of realm %s", ErrConf, l.user.Realm)
	}
	return fmt.Errorf("%s: %w", who, err)
}

// lastPart returns the cause in a text of gokrb5.
func lastPart(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, " < "); i >= 0 {
		s = s[i+3:]
	}
	for _, prefix := range []string{"[Root cause: Networking_Error] ", "Networking_Error: "} {
		s = strings.TrimPrefix(s, prefix)
	}
	return s
}
