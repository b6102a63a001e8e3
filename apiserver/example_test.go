package apiserver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// Three lines create a service with a new account, in memory and without a socket.
func Example() {
	ctx := context.Background()

	db, _ := sqlite.Open(ctx, sqlite.Memory, sqlite.Options{})
	service, _ := apiserver.New(apiserver.Options{Store: db})
	account, _ := service.EnsureAccount(ctx, "")
	defer service.Close()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://in.process/v1/public/accounts/"+account+"/workspaces", nil)
	if err != nil {
		log.Fatal(err)
	}
	resp, err := service.OwnerClient(account).Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}

// A client outside the process needs a listener and the token of a service account.
func ExampleService_Handler() {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, sqlite.Memory, sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	service, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	account, token, err := service.InitAccount(ctx, "", "ci")
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(service.Handler())
	defer server.Close()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/public/accounts/"+account+"/mailboxes", nil)
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}
