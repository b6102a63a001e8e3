package apiserver_test

import (
	"net/url"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestMailboxWithASlash(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	for _, local := range []string{"a/b", "a//b", "a/./b", "a?b", "a#b", "a%b"} {
		id := h.Mailbox("example.com", local)
		h.Get("/mailboxes/"+url.PathEscape(local+"@example.com")).Want(200).Is("id", id)
	}
}
