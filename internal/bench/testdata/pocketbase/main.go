// Command pocketbase serves PocketBase with a collection of mailboxes that only an
// authenticated caller can use. It prints a token and the id of a domain.
//
// A write is durable when it is acknowledged, as mailhostd's are: PocketBase's own
// default is synchronous=NORMAL. Everything else is PocketBase's default.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations"
	"github.com/pocketbase/pocketbase/tools/types"
)

const email = "bench@example.com"

func main() {
	dir := flag.String("dir", "", "data directory")
	listen := flag.String("listen", "", "address to listen at")
	flag.Parse()
	if err := run(*dir, *listen); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, listen string) error {
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: dir, DBConnect: connect})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	if err := app.RunAllMigrations(); err != nil {
		return err
	}
	domain, err := seed(app)
	if err != nil {
		return err
	}
	user, err := app.FindAuthRecordByEmail("users", email)
	if err != nil {
		return err
	}
	token, err := user.NewAuthToken()
	if err != nil {
		return err
	}
	fmt.Println(token, domain)
	return apis.Serve(app, apis.ServeConfig{HttpAddr: listen, ShowStartBanner: true})
}

// connect opens a database as PocketBase does, but durably. The auxiliary database has
// the request log only.
func connect(path string) (*dbx.DB, error) {
	level := "FULL"
	if filepath.Base(path) == "auxiliary.db" {
		level = "NORMAL"
	}
	return dbx.Open("sqlite", path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=journal_size_limit(200000000)"+
		"&_pragma=synchronous("+level+")&_pragma=foreign_keys(ON)&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)")
}

// seed creates the collections, a domain and a user. It returns the domain's id.
func seed(app core.App) (string, error) {
	domains := core.NewBaseCollection("domains")
	domains.Fields.Add(&core.TextField{Name: "name", Required: true})
	if err := app.Save(domains); err != nil {
		return "", err
	}
	mailboxes := core.NewBaseCollection("mailboxes")
	mailboxes.Fields.Add(
		&core.RelationField{Name: "domain", CollectionId: domains.Id, Required: true, MaxSelect: 1},
		&core.TextField{Name: "local_part", Required: true, Max: 64},
		&core.TextField{Name: "first_name", Required: true, Max: 100},
		&core.TextField{Name: "last_name", Required: true, Max: 100},
		&core.TextField{Name: "status"},
		&core.NumberField{Name: "quota_allowed"},
		&core.NumberField{Name: "quota_used"},
		&core.JSONField{Name: "aliases"},
		&core.AutodateField{Name: "created", OnCreate: true},
		&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true},
	)
	mailboxes.AddIndex("idx_mailboxes_address", true, "domain, local_part", "")
	authenticated := types.Pointer(`@request.auth.id != ""`)
	mailboxes.ListRule, mailboxes.ViewRule, mailboxes.CreateRule = authenticated, authenticated, authenticated
	if err := app.Save(mailboxes); err != nil {
		return "", err
	}
	domain := core.NewRecord(domains)
	domain.Set("name", "example.com")
	if err := app.Save(domain); err != nil {
		return "", err
	}
	users, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return "", err
	}
	user := core.NewRecord(users)
	user.SetEmail(email)
	user.SetPassword("0123456789ab")
	return domain.Id, app.Save(user)
}
