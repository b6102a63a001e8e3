// Package modeltest checks the service against a model of it. It contains only tests.
//
// TestModel is a stateful property test. It draws a random sequence of requests, time steps and jumps of the clock, sends
// each request to a real service through its http.Client, computes the expected response from a simple
// model, and compares status, headers and the whole body. The model is a few slices of structs; it
// follows the specification of the API and is not derived from the service's code. It takes ids and
// creation times, which it can't predict, from the first response that contains them; later they must
// stay the same. A failing sequence is shrunk and printed as a transcript.
//
// TestModelOfReplicas is TestModel on PostgreSQL. Both then check the query plans of all executed
// statements: none may read a whole table.
//
// TestConcurrentModel sends random requests from many goroutines. Single responses are then
// unpredictable, so it checks that all responses and the final lists are consistent.
//
// TestModel is deterministic: it uses its own clock, and without flags the same sequences run each time.
// Use the flags of pgregory.net/rapid for longer or other runs:
//
//	go test ./apiserver/modeltest -rapid.checks=1000 -rapid.steps=200 -rapid.seed=0
//
// The tests import the service, the stores and, of the contract, only the list of operations. A run without
// flags must send each operation. The tests repeat names, limits and messages independently of the contract.
package modeltest
