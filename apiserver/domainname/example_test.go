package domainname_test

import (
	"errors"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

func ExampleNormalize() {
	fmt.Println(domainname.Normalize("Bücher.Example."))
	fmt.Println(domainname.Normalize("https://example.com"))
	// Output:
	// xn--bcher-kva.example <nil>
	//  name must not be a URL or a path; expected only the name, such as example.com
}

func ExampleRegistrable() {
	err := domainname.Registrable("www.example.com")
	fmt.Println(errors.Is(err, domainname.ErrNotRegistrable))
	fmt.Println(err)
	// Output:
	// true
	// not a registrable name: it lies below "example.com"; expected that name
}
