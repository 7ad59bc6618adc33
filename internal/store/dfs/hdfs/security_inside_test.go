package hdfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/store/dfs/hdfs/ipc"
	"usertrail/internal/store/secure/token"
)

// TestWhatIsWrongWithANameNodeIsSaid checks the errors of an exchange with a NameNode.
func TestWhatIsWrongWithANameNodeIsSaid(t *testing.T) {
	s := &security{nameNode: "nn/_HOST@REALM.TEST"}
	_, impostor := s.principal("10.0.0.1:8020", ipc.Auth{Protocol: "nn", Server: "nn1.test"})
	for says, err := range map[string]error{
		"it says that it is nn/nn1.test, and dfs.namenode.kerberos.principal for 10.0.0.1 is nn/10.0.0.1@REALM.TEST. Name it by the host of its principal, or correct the property": impostor,
		"the NameNode does not ask for Kerberos: set hadoop.security.authentication to simple in core-site.xml if that is right. Nothing was sent to it":                            ipc.ErrSimple,
		token.Advice: &ipc.ServerError{Class: "org.apache.hadoop.security.token.SecretManager$InvalidToken", Message: "token can't be found in cache"},
	} {
		if got := s.explain("10.0.0.1:8020", err); !errors.Is(got, ErrInsecure) || !strings.Contains(got.Error(), says) {
			t.Errorf("%v; want ErrInsecure and %q", got, says)
		}
	}
}

// TestOnlyTheConnectionIsRefused has a client whose last new connection was refused. Responses on its other
// connections have their own meaning.
func TestOnlyTheConnectionIsRefused(t *testing.T) {
	c := &cluster{}
	c.clients[replacing] = new(hdfs.Client)
	refused := fmt.Errorf("%w: the ticket has expired", ErrInsecure)
	c.refused.Store(&refused)
	for err, want := range map[error]error{
		&fs.PathError{Op: "stat", Path: "/none", Err: fs.ErrNotExist}: fs.ErrNotExist,
		errors.New("no available namenodes: the ticket has expired"):  ErrInsecure,
	} {
		if got := c.once(replacing, func(*hdfs.Client) error { return err }); !errors.Is(got, want) {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// TestANameNodeWithKerberosIsNamed reads the refusal of a NameNode with Kerberos, in pieces.
func TestANameNodeWithKerberosIsNamed(t *testing.T) {
	ours, theirs := net.Pipe()
	go func() {
		for _, b := range []byte("\x00\x01" + noSimple + ". Available:[TOKEN, KERBEROS]") {
			if _, err := theirs.Write([]byte{b}); err != nil {
				return
			}
		}
	}()
	refused := new(atomic.Pointer[error])
	_, err := io.ReadAll(&unproved{Conn: ours, addr: "nn:8020", refused: refused})
	ours.Close()
	if !errors.Is(err, ErrInsecure) || !strings.Contains(err.Error(), "set hadoop.security.authentication to kerberos in core-site.xml") || refused.Load() == nil {
		t.Errorf("%v, want ErrInsecure and the property", err)
	}
}
