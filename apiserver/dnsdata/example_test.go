package dnsdata_test

import (
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

func ExampleNormalizeName() {
	for _, name := range []string{"WWW", "www.example.com.", "example.com", "@", "*.Bücher", "www.example.org."} {
		fmt.Println(dnsdata.NormalizeName(name, "example.com"))
	}
	// Output:
	// www <nil>
	// www <nil>
	// @ <nil>
	// @ <nil>
	// *.xn--bcher-kva <nil>
	//  name ends in a dot but is outside the zone "example.com"; expected a name in the zone, or one without the dot
}

func ExampleNormalizeValue() {
	fmt.Println(dnsdata.NormalizeValue("AAAA", "2001:DB8:0:0::1"))
	fmt.Println(dnsdata.NormalizeValue("TXT", `"v=spf1 include:_spf.example.com" " -all"`))
	fmt.Println(dnsdata.NormalizeValue("CAA", "0 Issue ca.example.net"))
	fmt.Println(dnsdata.NormalizeValue("MX", "10 mail.example.com"))
	// Output:
	// 2001:db8::1 <nil>
	// v=spf1 include:_spf.example.com -all <nil>
	// 0 issue "ca.example.net" <nil>
	//  value of MX must be only the mail host, such as mail.example.com; the preference belongs in the priority
}

func ExampleEqualValues() {
	fmt.Println(dnsdata.EqualValues("TXT", "v=DKIM1; p=ABCD", `"v=DKIM1; p=" "ABCD"`))
	// Output: true
}

func ExampleQuote() {
	fmt.Println(dnsdata.Quote(`say "hi"`))
	// Output: "say \"hi\""
}
