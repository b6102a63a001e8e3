package serve

import (
	"net"
	"net/http"
	"sync"
)

// connections is a listener that limits the open connections of a server. If there are too many,
// the one that has been idle for the longest time is closed for the next: a client that keeps
// connections without a use for them locks nobody out. Without an idle one, the next waits.
type connections struct {
	net.Listener
	slots  chan struct{} // has an element for each open connection
	closed chan struct{}
	close  func()

	mu        sync.Mutex
	isAwaited bool
	clock     int              // counts the times that a connection became idle
	idle      map[net.Conn]int // when each idle connection became idle
}

// limitConnections returns the listener of a server with at most limit connections.
func limitConnections(server *http.Server, l net.Listener, limit int) *connections {
	c := &connections{Listener: l, slots: make(chan struct{}, limit), closed: make(chan struct{}), idle: map[net.Conn]int{}}
	c.close = sync.OnceFunc(func() { close(c.closed) })
	next := server.ConnState
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		c.note(conn, state)
		if next != nil {
			next(conn, state)
		}
	}
	return c
}

func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case c.slots <- struct{}{}:
	default:
		c.await()
		select {
		case c.slots <- struct{}{}:
		case <-c.closed:
			return nil, net.ErrClosed
		}
		c.mu.Lock()
		c.isAwaited = false
		c.mu.Unlock()
	}
	return &limited{conn, sync.OnceFunc(func() { <-c.slots })}, nil
}

// await closes the connection that has been idle for the longest time, or has the next one closed
// that becomes idle.
func (c *connections) await() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var longest net.Conn
	for conn, since := range c.idle {
		if longest == nil || since < c.idle[longest] {
			longest = conn
		}
	}
	if c.isAwaited = longest == nil; longest != nil {
		delete(c.idle, longest)
		_ = longest.Close()
	}
}

// note records the state of a connection.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state != http.StateIdle:
		delete(c.idle, conn)
	case c.isAwaited:
		c.isAwaited = false
		_ = conn.Close()
	default:
		c.clock++
		c.idle[conn] = c.clock
	}
}

func (c *connections) Close() error {
	c.close()
	return c.Listener.Close()
}

// limited is a connection that gives its slot back when it is closed.
type limited struct {
	net.Conn
	release func()
}

// SetLinger is that of a *net.TCPConn, for faults.
func (l *limited) SetLinger(seconds int) error {
	if tcp, ok := l.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}

func (l *limited) Close() error {
	defer l.release()
	return l.Conn.Close()
}
