// Package control is how tests steer a running service: they make it misbehave,
// see what it was asked and what messages it wrote, load fixtures, settle
// payments, move its clock, and begin anew.
//
// A Plane is that for one service, in the same process and, by its Handler, over
// HTTP. The handler asks for no credential. It belongs on a listener of its own
// that only the test reaches, and never on the public one.
//
// The faults themselves are in package fault and the record of requests in
// package journal. The package imports apiserver, the contract (api), route, strictjson and
// those two, and is imported by programs that serve it and by tests.
package control
