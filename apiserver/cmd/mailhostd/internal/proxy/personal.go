package proxy

import (
	"reflect"
	"strings"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Forms of replacements, of which %d is the number.
const (
	userForm, firstForm, lastForm = "user-%d", "First %d", "Last %d"
	nameForm                      = "Name %d" // of a whole person, or of a registrant's organization and so on
	textForm                      = "Text %d"
	hostForm                      = "host-%d"
)

// personal lists the personal members in the form of plain, also those that another host may add.
var personal = map[string]string{
	"localpart": userForm, "username": userForm, "login": userForm,
	"firstname": firstForm, "givenname": firstForm, "lastname": lastForm, "familyname": lastForm, "surname": lastForm,
	"submittername": nameForm, "displayname": nameForm, "fullname": nameForm, "organization": nameForm, "address1": nameForm, "phone": nameForm,
	"title": textForm, "description": textForm, "adminnotes": textForm, "remoteaddress": hostForm,
}

// fixed lists the members whose strings are words of the API, also in the errors of another host.
var fixed = []string{
	"action", "capability_key", "code", "country_code", "currency", "error_code", "estimated_total", "fields", "ip", "loc", "operation", "price", "rdns",
	"request_id", "status", "token_last4", "token_prefix", "token_public_id", "type",
}

// messages lists the members of errors that contain a message, also in the errors of another host.
var messages = []string{"detail", "error", "error_description", "errors", "message", "messages", "msg", "reason"}

// vocabulary contains the values of all enumerations.
var vocabulary = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, s := range api.Specs() {
		for _, f := range fieldsOf(s) {
			for _, word := range f.Enum {
				words[strings.ToLower(word)] = true
			}
		}
	}
	return words
})

// fieldsOf returns the parameters and members of an operation and of an error by name.
func fieldsOf(s api.Spec) map[string]*api.Field {
	fields := map[string]*api.Field{}
	var add func([]*api.Field)
	add = func(all []*api.Field) {
		for _, f := range all {
			if f.Name != "" && (fields[f.Name] == nil || f.Kind == reflect.Struct || f.Kind == reflect.Slice) {
				fields[f.Name] = f
			}
			add(f.Members)
			if f.Element != nil {
				add(f.Element.Members)
			}
		}
	}
	for _, t := range []reflect.Type{s.Request, s.Response, reflect.TypeFor[api.Error]()} {
		if t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		add(api.FieldsOf(t))
	}
	return fields
}

// plain returns the name of a member or column without spaces and punctuation, in lower case.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}
