package serve

import (
	"net"
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
)

// TestLongestIdle checks which connection is closed for another one.
func TestLongestIdle(t *testing.T) {
	server := &http.Server{} //nolint:gosec // it serves nothing
	c := limitConnections(server, nil, 3)
	conns := map[string]net.Conn{}
	for _, name := range []string{"a", "b", "c"} {
		near, far := net.Pipe()
		go func() { _, _ = far.Read(make([]byte, 1)); far.Close() }()
		conns[name] = near
		server.ConnState(near, http.StateIdle)
	}
	server.ConnState(conns["a"], http.StateActive)
	server.ConnState(conns["a"], http.StateIdle)
	for _, want := range []string{"b", "c", "a"} {
		before := len(c.idle)
		c.await()
		_, err := conns[want].Write([]byte("x"))
		assert.Check(t, err != nil && len(c.idle) == before-1, "%s is not closed: %d idle connections, %v", want, len(c.idle), err)
	}
	near, _ := net.Pipe()
	c.await() // none is idle
	server.ConnState(near, http.StateIdle)
	_, err := near.Write([]byte("x"))
	assert.Check(t, err != nil, "a connection that becomes idle is not closed for the one that waits")
}
