package emailaddr_test

import (
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

func ExampleParse() {
	a, err := emailaddr.Parse("Jane.O'Brien@Bücher.example")
	fmt.Println(a.Local, a.Domain, err)
	_, err = emailaddr.Parse("jürgen@example.com")
	fmt.Println(err)
	// Output:
	// jane.o'brien xn--bcher-kva.example <nil>
	// local part must not contain 'ü'; only ASCII letters, digits and !#$%&'*+-/=?^_`{|}~ are allowed, with single dots between them
}
