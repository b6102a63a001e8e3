package customtype

// kind tells one custom type from another. It is an empty struct, of use only as
// a type argument.
type kind interface{ rules() rules }

// rules are what sets the values of a kind apart from other strings.
type rules struct {
	// name is the name of the value's type.
	name string
	// noun says with its article what a value is.
	noun string
	// normalize returns the canonical form of a value, as far as the value alone
	// tells it, or an error in words for the person who wrote it.
	normalize func(string) (string, error)
	// equal, if set, reports whether two different strings mean the same. If not
	// set, those do whose canonical form is the same.
	equal func(a, b string) bool
}

func rulesOf[K kind]() rules {
	var k K
	return k.rules()
}

func (r rules) same(a, b string) bool {
	switch {
	case a == b:
		return true
	case r.equal != nil:
		return r.equal(a, b)
	}
	return sameForm(r.normalize, a, b)
}

// sameForm reports whether a and b are both valid and have the same canonical
// form.
func sameForm(normalize func(string) (string, error), a, b string) bool {
	a, err := normalize(a)
	if err != nil {
		return false
	}
	b, err = normalize(b)
	return err == nil && a == b
}
