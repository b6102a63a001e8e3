package control_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// The example runs a service in process and drops its first response.
func Example() {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, sqlite.Memory, sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var plane control.Plane
	service, err := apiserver.New(apiserver.Options{Store: db, Clock: plane.Clock.Now, Middleware: plane.Middleware})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	account, err := service.EnsureAccount(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	client := service.OwnerClient(account) // an *http.Client

	if _, err := plane.Faults.Add(fault.Rule{Operation: "create-workspace", Drop: fault.After, Times: 1}); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://in.process/v1/public/accounts/"+account+"/workspaces", strings.NewReader(`{"name":"Sales"}`))
		if err != nil {
			log.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "5f0c9c52-5d0c-4c7e-9a53-3f1c2d8e7a10")
		resp, err := client.Do(r)
		if err != nil {
			fmt.Println("the response is lost")
			continue
		}
		_ = resp.Body.Close()
		fmt.Println(resp.Status, "replayed:", resp.Header.Get("Idempotency-Replayed"))
	}
	fmt.Println("sent:", string(plane.Journal.Entries(journal.Filter{Operation: "create-workspace"})[0].Request))
	// Output:
	// the response is lost
	// 201 Created replayed: true
	// sent: {"name":"Sales"}
}
