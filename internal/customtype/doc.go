// Package customtype has the string types of the provider's schemas: addresses,
// names, UUIDs and times, which can be written in more than one way. Two
// spellings of one thing are semantically equal, so that the framework keeps the
// one in the configuration when the API answers with another.
//
// Each type is a [Type] for the schema and a [Value] for the model, told apart
// by a kind:
//
//	schema.StringAttribute{CustomType: customtype.EmailAddressType{}}
//
//	type model struct {
//		TargetEmail customtype.EmailAddress `tfsdk:"target_email"`
//	}
//
// # Validation
//
// A type validates what it reads: a wrong value is an error of its attribute at
// plan time. The framework asks for this not only of the configuration but each
// time that it reads a value, from the state as well. That suits a schema which
// holds nothing but configuration. Where the API fills an attribute, in a
// resource or a data source, an answer of an unforeseen form would make the
// object unreadable, even for a destroy. There, use the lenient type, and the
// validator if the attribute can be configured too:
//
//	schema.StringAttribute{
//		Required:   true,
//		CustomType: customtype.EmailAddressType{Lenient: true},
//		Validators: []validator.String{customtype.EmailAddressType{}.Validator()},
//	}
//
// # What a value can't know
//
// Semantic equality sees two values and nothing else. Where their meaning
// depends on another attribute it equates only what is equal in any case; the
// resource, which knows the rest, does the remainder with the functions of this
// package: [KeepDomainRef], [KeepName] and [KeepValue].
//
// Nor does the framework ask for semantic equality of configuration and prior
// state when it plans. A plan modifier does that, with [Equal].
//
// The package may import the plugin framework and, of this module,
// internal/validate, apiserver/api and the syntax packages beside it.
package customtype
