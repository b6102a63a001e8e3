package mail_test

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

func TestClient(t *testing.T) {
	s := apiservertest.Start(t)
	resp, err := s.Client().Get(s.Path("/mailboxes")) // your client, with s.URL, s.AccountID and s.Token
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || len(s.Journal.Entries(journal.Filter{})) != 1 {
		t.Errorf("the status is %s", resp.Status)
	}
}
