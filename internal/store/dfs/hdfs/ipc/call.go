package ipc

import (
	"crypto/rand"
	"errors"
	"fmt"

	"usertrail/internal/store/secure/sasl"
	"usertrail/internal/store/secure/token"
)

// clientProtocol is the protocol of HDFS's clients.
const clientProtocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol"

// Call makes one call of a method of HDFS's ClientProtocol, as a user, and returns the bytes of the
// response's message. No other call may be made on the connection.
func (c *Conn) Call(user, method string, param []byte) ([]byte, error) {
	client := make([]byte, 16)
	_, _ = rand.Read(client) // it never fails
	context := octets(nil, 2, octets(nil, 1, []byte(user)))
	context = octets(context, 3, []byte(clientProtocol))
	name := octets(nil, 1, []byte(method))
	name = octets(name, 2, []byte(clientProtocol))
	name = number(name, 3, 1)
	c.greeted = headerLen
	if err := c.send(join(header(contextCall, client), context)); err != nil {
		return nil, err
	}
	if err := c.send(join(header(0, client), name, param)); err != nil {
		return nil, err
	}
	b, err := readPacket(c, maxHandshake)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	_, body, err := parseResponse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return body, nil
}

// DelegationToken gets a delegation token of a user. renewer is the short name of the user who may
// renew it. The token comes without the name of its service.
func (c *Conn) DelegationToken(user, renewer string) (token.Token, error) {
	var t token.Token
	body, err := c.Call(user, "getDelegationToken", octets(nil, 1, []byte(renewer)))
	if err != nil {
		return t, err
	}
	for f, err := range fields(body) {
		if err != nil {
			return t, fmt.Errorf("getDelegationToken: %w", err)
		}
		if f.Num != 1 {
			continue
		}
		if t, err = token.ParseMessage(f.Bytes); err != nil {
			return t, fmt.Errorf("getDelegationToken: %w: %w", sasl.ErrProtocol, err)
		}
	}
	if t.Kind == "" || len(t.Identifier) == 0 {
		return t, errors.New("getDelegationToken: the NameNode gives no tokens")
	}
	t.Service = ""
	return t, nil
}

// Principal returns the principal of a server in an offer.
func (a Auth) Principal() string { return a.Protocol + "/" + a.Server }

// Offered returns the offer of a method.
func Offered(offers []Auth, method string) (Auth, bool) {
	for _, a := range offers {
		if a.Method == method {
			return a, true
		}
	}
	return Auth{}, false
}
