// Package metrics counts what the server does, for Prometheus.
//
// Every label has a fixed set of values: nothing that a client sends becomes
// one. The package may import apiserver.
package metrics
