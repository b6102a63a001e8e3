// Package fault makes a service misbehave on demand, for tests of its clients.
//
// A Rule selects requests and says when it acts on them and how: with an error,
// a delay, a dropped connection, a held request, or an answer that is cut off.
// An Injector holds rules; its Middleware goes into apiserver.Options, and works
// over a network and for the service's in-process clients alike:
//
//	var faults fault.Injector
//	service, err := apiserver.New(apiserver.Options{Store: db, Middleware: faults.Middleware})
//	…
//	id, err := faults.Add(fault.Rule{Operation: "create-mailbox", Nth: 1, Hold: fault.Before})
//	…
//	_, err = faults.AwaitHeld(ctx, id, 1) // the request has arrived, and nothing is done
//	…
//	_, err = faults.Release(id)
//
// The package imports apiserver, the contract (api) and strictjson. Nothing of a rule
// outlives the process.
package fault
