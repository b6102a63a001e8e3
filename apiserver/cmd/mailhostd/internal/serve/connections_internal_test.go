package serve

import (
	"net"
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
)

// pipes is a listener with connections that send nothing.
type pipes struct{ net.Listener }

func (pipes) Accept() (net.Conn, error) {
	near, far := net.Pipe()
	go func() { _, _ = far.Read(make([]byte, 1)); far.Close() }()
	return near, nil
}

// TestLongestIdle checks which connection is closed for a new one.
func TestLongestIdle(t *testing.T) {
	server := &http.Server{} //nolint:gosec // it serves nothing
	c := limitConnections(server, pipes{}, 3)
	accept := func(state http.ConnState) net.Conn {
		conn, err := c.Accept()
		assert.NilError(t, err)
		server.ConnState(conn, http.StateNew)
		server.ConnState(conn, state)
		return conn
	}
	conns := []net.Conn{accept(http.StateIdle), accept(http.StateIdle), accept(http.StateIdle)}
	server.ConnState(conns[0], http.StateActive)
	server.ConnState(conns[0], http.StateIdle)
	busy := net.Conn(nil)
	for _, want := range []int{1, 2, 0} {
		before := len(c.idle)
		busy = accept(http.StateActive)
		_, err := conns[want].Write([]byte("x"))
		assert.Check(t, err != nil && len(c.idle) == before-1, "%d is not closed: %d idle connections, %v", want, len(c.idle), err)
	}
	go server.ConnState(busy, http.StateIdle)
	accept(http.StateActive) // waits for an idle one
	_, err := busy.Write([]byte("x"))
	assert.Check(t, err != nil, "a connection that becomes idle is not closed for the one that waits")
}
