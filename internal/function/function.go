package function

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// All returns every function of the provider.
func All() []func() function.Function {
	return []func() function.Function{
		newDKIMRecord,
		newDMARCRecord,
		newDomainToUnicode,
		newMTASTSID,
		newMTASTSPolicy,
		newMTASTSRecord,
		newNormalizeDomain,
		newParseAddress,
		newSPFRecord,
		newTLSRPTRecord,
		newTXTChunks,
		newTXTValue,
	}
}

// finish answers a call with a result, or with all of its problems: those found
// while its arguments were read, and those that err has. arguments are the fields
// of the problems that are arguments, in their order; every other field is part
// of the argument after them.
func finish(ctx context.Context, resp *function.RunResponse, arguments []string, problems maildns.Problems, result any, err error) {
	var more maildns.Problems
	switch {
	case errors.As(err, &more):
		problems = join(problems, more)
	case err != nil:
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	if len(problems) > 0 {
		resp.Error = failure(arguments, problems)
		return
	}
	resp.Error = resp.Result.Set(ctx, result)
}

// join adds the problems that a record has to those of its arguments. An element
// that could not be read is told of once.
func join(problems, more maildns.Problems) maildns.Problems {
	all := slices.Clone(problems)
	for _, m := range more {
		if !slices.ContainsFunc(problems, func(p maildns.Problem) bool { return m.Element >= 0 && p.Field == m.Field && p.Element == m.Element }) {
			all = append(all, m)
		}
	}
	return all
}

// failure names the argument that has all problems. Where several have some, the
// error is the call's, as it can name but one.
func failure(arguments []string, problems maildns.Problems) *function.FuncError {
	argument := func(p maildns.Problem) int {
		if i := slices.Index(arguments, p.Field); i >= 0 {
			return i
		}
		return len(arguments)
	}
	first := argument(problems[0])
	for _, p := range problems {
		if argument(p) != first {
			return function.NewFuncError(problems.Error())
		}
	}
	return function.NewArgumentFuncError(int64(first), problems.Error())
}

const nullElement = "must not be null; leave the element out, for instance by compact()"

// texts returns the strings of a list argument, with an empty one in the place of
// a null, so that the others keep theirs.
func texts(field string, values []types.String) ([]string, maildns.Problems) {
	out := make([]string, 0, len(values))
	var problems maildns.Problems
	for i, v := range values {
		if v.IsNull() {
			problems = append(problems, maildns.Problem{Field: field, Element: i, Text: nullElement})
		}
		out = append(out, v.ValueString())
	}
	return out, problems
}
