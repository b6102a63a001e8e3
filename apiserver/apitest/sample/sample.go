// Package sample holds samples of each kind of object of the API, a file for each kind: valid request
// bodies, a path, an object to create, its configuration in Terraform, and changes outside of Terraform.
// The tests of the server, the client and the provider use them. [Kinds] lists the kinds, and
// TestKindIsComplete lists the missing samples and code of a kind.
//
// Stability: none. The package is exported for other packages of this repository only.
package sample

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const (
	// AccountID is the account of the samples.
	AccountID = "11111111-2222-4333-8444-555555555555"
	// UnknownID is an id that no object uses.
	UnknownID = "99999999-9999-4999-8999-999999999999"
)

// Object is a JSON object.
type Object = map[string]any

// Kind holds the samples of one kind of object.
type Kind struct {
	// Kind is the kind in the contract.
	api.Kind
	// File is the name without .go of the kind's files in this package and in the packages of the server.
	File string
	// Bodies are valid request bodies by operation id, in an account with the domain example.com and
	// its mailbox jane. The bodies of a create and of an update set every field, except for Hidden.
	Bodies map[string]Object

	// Parameter is the path parameter that names an object; empty without such an operation. Path is
	// a value of Parameter; empty for [UnknownID].
	Parameter, Path string
	// New returns the body of a create in a domain of an account; creates in different domains never
	// conflict. It is nil for a kind without a create, and for domains and workspaces, which the tests
	// create themselves.
	New func(accountID, domain string) Object
	// Key lists the response fields by which people identify an object.
	Key []string
	// Shown maps a field of a body to the field of the response, if their names differ.
	Shown map[string]string
	// Hidden maps a body field that no response shows, or that Bodies can't set, to the reason.
	Hidden map[string]string

	// Resource is the type of the provider's resource. Without one, Unmanaged contains the reason.
	Resource, Unmanaged string
	// Config declares an object, in the domain example.com if it requires a domain. Change lists
	// attributes that change the object in place; nil if no operation can. Replace lists attributes
	// that replace the object.
	Config, Change, Replace Object
	// Outside lists changes of an object outside of Terraform.
	Outside []Change
}

// Change is a change of an object by one operation.
type Change struct {
	Operation string
	Body      Object
}

// Kinds lists the samples of each kind, in the order of the contract's files.
func Kinds() []*Kind {
	return []*Kind{
		&workspaces, &authorizations, &billing, &dedicatedIPs, &dnsRecords, &domains, &feedback, &forwarding, &mailboxes, &masterPasswords, &serviceAccounts,
	}
}

// Of returns the samples of a kind of the contract, or nil.
func Of(kind api.Kind) *Kind { return find(func(k *Kind) bool { return k.Tag == kind.Tag }) }

// Resource returns the samples of a resource type. It panics if there are none.
func Resource(typeName string) *Kind {
	k := find(func(k *Kind) bool { return k.Resource == typeName })
	if k == nil {
		panic("no sample has the Resource " + typeName + ": run go test ./apiserver/apitest/sample, which says what to add")
	}
	return k
}

// Named returns the samples of the kind with a path parameter, or nil.
func Named(parameter string) *Kind {
	return find(func(k *Kind) bool { return k.Parameter == parameter })
}

func find(matches func(*Kind) bool) *Kind {
	all := Kinds()
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return all[i]
	}
	return nil
}

// Body returns a valid body of an operation's request. It panics if there is none.
func Body(op api.Spec) Object {
	if k := Of(op.Kind); k != nil && k.Bodies[op.ID] != nil {
		return k.Bodies[op.ID]
	}
	panic(fmt.Sprintf("%s has no body in apiserver/apitest/sample: run go test there, which says what to add", op.ID))
}

// Operations returns the operations of a kind.
func (k *Kind) Operations() []api.Spec {
	return slices.DeleteFunc(api.Specs(), func(s api.Spec) bool { return s.Kind.Tag != k.Tag })
}

// Create returns the operation that creates one object, or nil.
func (k *Kind) Create() *api.Spec {
	return k.operation(func(s api.Spec) bool { return s.Method == http.MethodPost && s.Status == http.StatusCreated })
}

// Get returns the operation that reads one object, or nil.
func (k *Kind) Get() *api.Spec {
	return k.operation(func(s api.Spec) bool { return s.Method == http.MethodGet && k.names(s) })
}

// Updates returns the operations that change one object.
func (k *Kind) Updates() []api.Spec {
	return slices.DeleteFunc(k.Operations(), func(s api.Spec) bool { return s.Method != http.MethodPatch })
}

// TypeOf returns the Go type of the objects that the operations list or, without a list, of the
// first operation's response.
func TypeOf(ops []api.Spec) reflect.Type {
	for _, op := range ops {
		if !strings.HasPrefix(op.ID, "list-") {
			continue
		}
		if op.Response.Kind() == reflect.Slice {
			return op.Response.Elem()
		}
		items, _ := op.Response.FieldByName("Items")
		return items.Type.Elem()
	}
	return ops[0].Response
}

// Fields maps the JSON names of an object's fields to the Go names.
func (k *Kind) Fields() map[string]string {
	object, names := TypeOf(k.Operations()), map[string]string{}
	for _, f := range api.FieldsOf(object) {
		names[f.Name] = object.FieldByIndex(f.Index).Name
	}
	return names
}

// Collection returns the path of the kind's objects below the account's prefix, such as /mailboxes.
func (k *Kind) Collection() string {
	s := k.operation(k.names)
	return strings.TrimSuffix(strings.TrimPrefix(s.Path, api.Prefix), "/{"+k.Parameter+"}")
}

func (k *Kind) names(s api.Spec) bool { return strings.HasSuffix(s.Path, "/{"+k.Parameter+"}") }

func (k *Kind) operation(matches func(api.Spec) bool) *api.Spec {
	all := k.Operations()
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return &all[i]
	}
	return nil
}
