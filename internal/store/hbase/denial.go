package hbase

import (
	"errors"
	"regexp"
	"strings"

	"usertrail/internal/store/hbase/rpc"
)

// A Denial is a right that a user does not have.
type Denial struct {
	User  string // without realm and host, as grants name users
	Right string // the letter of HBase's shell: R, W, X, C or A
}

// The texts of AccessController and AccessChecker:
//
//	Insufficient permissions for user 'ana' (table=t, action=READ)
//	Insufficient permissions (user=ana@REALM, scope=default:t, family=f:q, params=[…],action=WRITE)
var (
	deniedUser   = regexp.MustCompile(`user(?: '|=)([^',) ]+)`)
	deniedAction = regexp.MustCompile(`action=(READ|WRITE|EXEC|CREATE|ADMIN)\b`)
)

// letters are the rights in HBase's shell.
var letters = map[string]string{"READ": "R", "WRITE": "W", "EXEC": "X", "CREATE": "C", "ADMIN": "A"}

// DenialOf returns the missing right that an exception of HBase names. It returns false if the
// exception names none.
func DenialOf(err error) (Denial, bool) {
	server, ok := errors.AsType[*rpc.ServerError](err)
	if !ok || server.Name() != "AccessDeniedException" {
		return Denial{}, false
	}
	user, action := deniedUser.FindStringSubmatch(server.Message), deniedAction.FindStringSubmatch(server.Message)
	if user == nil || action == nil {
		return Denial{}, false
	}
	return Denial{User: ShortName(user[1]), Right: letters[action[1]]}, true
}

// ShortName returns the name that grants have for a principal, unless the servers have rules of their
// own (hadoop.security.auth_to_local): the part before the host and the realm.
func ShortName(principal string) string {
	name, _, _ := strings.Cut(principal, "@")
	name, _, _ = strings.Cut(name, "/")
	return name
}
