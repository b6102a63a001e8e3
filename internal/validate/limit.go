package validate

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// Length returns a validator of the length, in characters, that the contract
// sets for the field that the body T calls name. It panics if T has no such
// field, or sets it no length.
func Length[T any](name string) validator.String {
	l := api.LimitsOf[T](name)
	least, most := l.MinLength, l.MaxLength
	if least == nil && most == nil {
		panic(noLimit[T]("length", name))
	}
	v := stringValidator{}
	switch {
	case most == nil:
		v.plain = fmt.Sprintf("at least %s long", characters(*least))
	case least == nil:
		v.plain = fmt.Sprintf("at most %s long", characters(*most))
	case *least == *most:
		v.plain = fmt.Sprintf("exactly %s long", characters(*most))
	default:
		v.plain = fmt.Sprintf("%d to %s long", *least, characters(*most))
	}
	v.markdown = v.plain
	v.check = func(s string) (string, bool) {
		n := utf8.RuneCountInString(s)
		if least != nil && n < *least || most != nil && n > *most {
			return fmt.Sprintf("; it has %d", n), false
		}
		if err := text.CheckName(s); l.Name && err != nil {
			return "; it " + err.Error(), false
		}
		return "", true
	}
	return v
}

// OneOf returns a validator of the values that the contract allows for the field
// that T, a body or the request of a list, calls name. It panics if T has no such field, or allows it any
// value.
func OneOf[T any](name string) validator.String {
	allowed := api.LimitsOf[T](name).Enum
	if len(allowed) == 0 {
		panic(noLimit[T]("enum", name))
	}
	return stringValidator{
		words: words{
			plain:    "one of " + strings.Join(allowed, ", "),
			markdown: "one of `" + strings.Join(allowed, "`, `") + "`",
		},
		check: func(s string) (string, bool) {
			if slices.Contains(allowed, s) {
				return "", true
			}
			for _, v := range allowed {
				if strings.EqualFold(v, strings.TrimSpace(s)) {
					return fmt.Sprintf(", got %q; write %q", s, v), false
				}
			}
			return fmt.Sprintf(", got %.64q", s), false
		},
	}
}

// Range returns a validator of the bounds that the contract sets for the number
// that the body T calls name. It panics if T has no such field, or sets it no
// bounds.
func Range[T any](name string) validator.Int64 {
	l := api.LimitsOf[T](name)
	v := rangeValidator{least: l.Minimum, most: l.Maximum}
	switch {
	case v.least == nil && v.most == nil:
		panic(noLimit[T]("range", name))
	case v.most == nil:
		v.plain = fmt.Sprintf("at least %d", *v.least)
	case v.least == nil:
		v.plain = fmt.Sprintf("at most %d", *v.most)
	default:
		v.plain = fmt.Sprintf("between %d and %d", *v.least, *v.most)
	}
	v.markdown = v.plain
	return v
}

type rangeValidator struct {
	words
	least, most *int64
}

// ValidateInt64 implements validator.Int64.
func (v rangeValidator) ValidateInt64(ctx context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	n := req.ConfigValue.ValueInt64()
	if (v.least == nil || n >= *v.least) && (v.most == nil || n <= *v.most) {
		return
	}
	got := fmt.Sprintf(", got %d", n)
	if secret(ctx, req.Config, req.Path) {
		got = ""
	}
	resp.Diagnostics.Append(refusal(req.Path, "must be "+v.plain+got))
}

// characters counts characters in words.
func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

func noLimit[T any](kind, name string) string {
	return fmt.Sprintf("validate: the contract sets no %s for %s of %s", kind, name, reflect.TypeFor[T]())
}
