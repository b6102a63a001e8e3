// Package modeltest checks the service against a model of it. It has no code of
// its own, only tests.
//
// TestModel is a stateful property test: it draws a random sequence of requests
// and passages of time, sends each request to a real service through its
// http.Client, asks a simple model what the answer must be, and compares status,
// headers and the whole body. The model is a few slices of structs; it says what
// the API's specification says, and it is not derived from the service's code.
// Ids and creation times, which a model can't foresee, are learnt from the first
// answer that tells them and held to be the same from then on. A sequence that
// fails is shrunk and printed as a transcript.
//
// TestConcurrentModel sends random requests from many goroutines at once. Nobody
// can foretell those answers one by one, so it checks what must hold of all of
// them together with the lists at the end.
//
// TestDurability draws histories of a service on a file: requests that are cut off or
// lose their authorization while their body travels, crashes, restarts, jumps of the
// clock, and a file that is replaced or truncated under the service.
//
// The first two are deterministic: the clock is the test's own, and without flags the same
// sequences run each time. Longer or other runs use the flags of
// pgregory.net/rapid:
//
//	go test ./apiserver/modeltest -rapid.checks=1000 -rapid.steps=200 -rapid.seed=0
//
// The tests import the service and the SQLite store, and of the contract nothing
// but the list of its operations, each of which a run without flags must have sent:
// names, limits and messages are written down here a second time.
package modeltest
