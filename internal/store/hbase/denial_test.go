package hbase

import (
	"fmt"
	"testing"

	"usertrail/internal/store/hbase/rpc"
)

func TestDenials(t *testing.T) {
	for message, want := range map[string]Denial{
		"Insufficient permissions for user 'mallory' (table=t, action=READ)":                                                              {"mallory", "R"},
		"Insufficient permissions (user=mallory@LAB.TEST, scope=default:t, family=f:q, params=[table=default:t,family=f:q],action=WRITE)": {"mallory", "W"},
		"Insufficient permissions (user=svc/host@LAB.TEST, scope=default:b, params=[table=default:b],action=CREATE)":                      {"svc", "C"},
		"Insufficient permissions (user=bob, scope=GLOBAL, params=[table=default:b],action=ADMIN)":                                        {"bob", "A"},
		"Authentication is required": {},
	} {
		err := fmt.Errorf("get: %w", &rpc.ServerError{Class: pkg + "security.AccessDeniedException", Message: message})
		if got, ok := DenialOf(err); got != want || ok != (want != Denial{}) {
			t.Errorf("%s: %+v, %v; want %+v", message, got, ok, want)
		}
	}
	if got, ok := DenialOf(&rpc.ServerError{Class: "java.io.IOException", Message: "user=bob, action=READ"}); ok {
		t.Errorf("another exception: %+v", got)
	}
}
