// Package function provides the provider's functions, which build and check mail DNS records, addresses and
// domain names, and read lists of users and zone files. They require no account and no network. This package
// only maps arguments to the rules in zonefile and in packages of apiserver, and problems back to arguments.
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
	// options is the last, optional parameter, or nil.
	options function.Parameter
	// returns is the type of the result; nil means a string.
	returns function.Return
	// run reads the arguments with get and returns the result. If get fails, its error replaces the
	// result. run's error may be [maildns.Problems] with the names of parameters or options as fields.
	run func(get getArguments) (any, error)
}

// getArguments reads all arguments into targets, like the framework.
type getArguments func(targets ...any)

// ofString returns the run function of a provider function with one string parameter.
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
	if resp.Error != nil { // the error quotes files, which must not change the terminal
		resp.Error.Text = printable.PrintableLines(resp.Error.Text)
	}
}

// argumentError names the argument if all problems are in one. An error can't name several.
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

// withArgumentProblems adds the problems of the arguments to the error of the record built from them. It
// reports each element once.
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
