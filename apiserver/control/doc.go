// Package control is how tests steer a running service: they read the messages
// that it would have sent, load fixtures, and move its clock.
//
// Its handler asks for no credential. It belongs on a listener of its own that
// only the test reaches, and never on the public one.
//
// The package imports apiserver, and is imported by programs that serve it.
package control
