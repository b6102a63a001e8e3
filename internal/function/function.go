// Package function provides the provider's functions, which build and check mail
// DNS records, addresses and domain names, and read lists of users and zone files. They need
// no account and no network. The rules are in zonefile and in packages of apiserver; this
// package only maps arguments to them, and their problems back to arguments.
//
// It may import the plugin framework, zonefile, and of apiserver dnsdata, domainname, emailaddr,
// maildns, mailcheck, text and userlist.
package function

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
	printable "github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// All returns every function of the provider.
func All() []func() function.Function {
	var all []func() function.Function
	for _, f := range []providerFunction{
		checkMailDNS, dkimRecord, dmarcRecord, domainToUnicode, mtastsID, mtastsPolicy, mtastsRecord,
		normalizeDomain, parseAddress, parseUsers, parseZone, spfRecord, tlsrptRecord, txtChunks, txtValue,
	} {
		all = append(all, f.function)
	}
	return all
}

type providerFunction struct {
	name, summary, description string
	parameters                 []function.Parameter
	// options is the last parameter, if there is one.
	options function.Parameter
	// returns is the type of the result; nil is a string.
	returns function.Return
	// run reads the arguments with get, whose error replaces the result, and returns the result. Its
	// error may be [maildns.Problems], whose fields are the names of parameters or of options.
	run func(get getArguments) (any, error)
}

// getArguments reads all arguments into targets, as the framework does.
type getArguments func(targets ...any)

// ofString returns the run of a function whose only parameter is a string.
func ofString[R any](run func(string) (R, error)) func(getArguments) (any, error) {
	return func(get getArguments) (any, error) {
		var s string
		get(&s)
		return run(s)
	}
}

func text(name, description string) function.Parameter {
	return function.StringParameter{Name: name, MarkdownDescription: description}
}

func texts(name, description string) function.Parameter {
	return function.ListParameter{Name: name, ElementType: types.StringType, MarkdownDescription: description}
}

func (f providerFunction) function() function.Function { return f }

func (f providerFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = f.name
}

func (f providerFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{Summary: f.summary, MarkdownDescription: f.description, Parameters: f.parameters, VariadicParameter: f.options, Return: f.returns}
	if f.returns == nil {
		resp.Definition.Return = function.StringReturn{}
	}
}

func (f providerFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var unreadable *function.FuncError
	result, err := f.run(func(targets ...any) { unreadable = req.Arguments.Get(ctx, targets...) })
	var problems maildns.Problems
	switch {
	case unreadable != nil:
		resp.Error = unreadable
	case errors.As(err, &problems):
		resp.Error = f.argumentError(problems)
	case err != nil:
		resp.Error = function.NewArgumentFuncError(0, err.Error())
	default:
		resp.Error = resp.Result.Set(ctx, result)
	}
	if resp.Error != nil { // it quotes files, which must not change the terminal
		resp.Error.Text = printable.PrintableLines(resp.Error.Text)
	}
}

// argumentError names the argument that has all problems. If several arguments
// have some, it names none, because an error can name only one.
func (f providerFunction) argumentError(problems maildns.Problems) *function.FuncError {
	first := f.argument(problems[0].Field)
	for _, p := range problems {
		if f.argument(p.Field) != first {
			return function.NewFuncError(problems.Error())
		}
	}
	return function.NewArgumentFuncError(int64(first), problems.Error())
}

// argument returns the position of the parameter named field. Every other field is
// an option, and the options come after the parameters.
func (f providerFunction) argument(field string) int {
	for i, p := range f.parameters {
		if p.GetName() == field {
			return i
		}
	}
	return len(f.parameters)
}

// withArgumentProblems adds the problems of the arguments to the error of the
// record that was built from them. It reports each element once.
func withArgumentProblems(problems maildns.Problems, err error) error {
	var more maildns.Problems
	errors.As(err, &more)
	all := slices.Clone(problems)
	for _, m := range more {
		if !slices.ContainsFunc(problems, func(p maildns.Problem) bool { return m.Element >= 0 && p.Field == m.Field && p.Element == m.Element }) {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

const nullElement = "must not be null; leave the element out, for instance by compact()"
