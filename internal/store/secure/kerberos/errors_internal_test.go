package kerberos

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/store/secure/gss"
)

// TestErrorsOfTheKDCAreExplained has the texts of gokrb5 for errors of a KDC.
func TestErrorsOfTheKDCAreExplained(t *testing.T) {
	l := &Login{user: gss.Principal{Names: []string{"alice"}, Realm: "REALM.TEST"}, source: "keytab k"}
	for text, c := range map[string]struct {
		want error
		says string
	}{
		"AS Exchange Error: KRB Error: (37) KRB_AP_ERR_SKEW Clock skew too great":              {ErrSkew, "set the clock of this machine by NTP"},
		"AS_REP is not valid: clock skew with KDC too large":                                   {ErrSkew, "set the clock of this machine by NTP"},
		"AS Exchange Error: KRB Error: (6) KDC_ERR_C_PRINCIPAL_UNKNOWN Client not found":       {ErrRefused, "is alice@REALM.TEST the right principal?"},
		"TGS Exchange Error: KRB Error: (7) KDC_ERR_S_PRINCIPAL_UNKNOWN Server not found":      {ErrRefused, "it does not know the service"},
		"AS Exchange Error: KRB Error: (24) KDC_ERR_PREAUTH_FAILED Pre-authentication invalid": {ErrRefused, "get a new keytab"},
		"TGS Exchange Error: KRB Error: (32) KRB_AP_ERR_TKT_EXPIRED Ticket expired":            {ErrExpired, "run kinit, or use --keytab"},
		"TGS Exchange Error: KRB Error: (12) KDC_ERR_POLICY KDC policy rejects request":        {ErrRefused, "(error 12)"},
		"no KDC SRV records found for realm REALM.TEST":                                        {ErrConf, "krb5.conf names no KDC of realm REALM.TEST"},
	} {
		err := l.explain(errors.New(text), "log in")
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %v and %q", text, err, c.want, c.says)
		}
	}
}
