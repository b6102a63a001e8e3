// Command pocketbase serves PocketBase with a collection of mailboxes that only an
// authenticated caller can use, in a folder and at an address. It prints a token and the id of a domain.
//
// An acknowledged write is durable, as in mailhostd, unlike with the default synchronous=NORMAL. All other
// settings are PocketBase's defaults.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
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
	token, domain, err := seed(app)
	if err != nil {
		return err
	}
	fmt.Println(token, domain)
	return apis.Serve(app, apis.ServeConfig{HttpAddr: listen, ShowStartBanner: true})
}

// connect opens a database like PocketBase, but durably. The auxiliary database contains only the request log.
func connect(path string) (*dbx.DB, error) {
	level := "FULL"
	if filepath.Base(path) == "auxiliary.db" {
		level = "NORMAL"
	}
	return dbx.Open("sqlite", path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=journal_size_limit(200000000)"+
		"&_pragma=synchronous("+level+")&_pragma=foreign_keys(ON)&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)")
}

// collections contains the benchmark's collections, as PocketBase exports them.
const collections = `[
	{"id": "domains00000000", "name": "domains", "type": "base", "fields": [{"name": "name", "type": "text", "required": true}]},
	{
		"name": "mailboxes", "type": "base",
		"listRule": "@request.auth.id != \"\"", "viewRule": "@request.auth.id != \"\"", "createRule": "@request.auth.id != \"\"",
		"indexes": ["CREATE UNIQUE INDEX idx_mailboxes_address ON mailboxes (domain, local_part)"],
		"fields": [
			{"name": "domain", "type": "relation", "collectionId": "domains00000000", "required": true, "maxSelect": 1},
			{"name": "local_part", "type": "text", "required": true, "max": 64},
			{"name": "first_name", "type": "text", "required": true, "max": 100},
			{"name": "last_name", "type": "text", "required": true, "max": 100},
			{"name": "status", "type": "text"},
			{"name": "quota_allowed", "type": "number"},
			{"name": "quota_used", "type": "number"},
			{"name": "aliases", "type": "json"},
			{"name": "created", "type": "autodate", "onCreate": true},
			{"name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true}
		]
	}
]`

// seed creates the collections, a domain and a user. It returns a token of the user and the id of the domain.
func seed(app core.App) (token, domain string, err error) {
	if err := app.ImportCollectionsByMarshaledJSON([]byte(collections), false); err != nil {
		return "", "", err
	}
	d, err := record(app, "domains", map[string]any{"name": "example.com"})
	if err != nil {
		return "", "", err
	}
	user, err := record(app, "users", map[string]any{"email": "bench@example.com", "password": "0123456789ab"})
	if err != nil {
		return "", "", err
	}
	token, err = user.NewAuthToken()
	return token, d.Id, err
}

func record(app core.App, collection string, values map[string]any) (*core.Record, error) {
	c, err := app.FindCollectionByNameOrId(collection)
	if err != nil {
		return nil, err
	}
	r := core.NewRecord(c)
	r.Load(values)
	return r, app.Save(r)
}
