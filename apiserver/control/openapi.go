package control

import (
	"cmp"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// parameters describes the parameters of all endpoints.
var parameters = map[string]string{
	"held": "Waits until the fault holds that many requests.", "timeout": "How long to wait for held requests, such as 10s.",
	"count": "Fails with a 409 unless exactly that many match.", "min_count": "Fails with a 409 if fewer match.", "max_count": "Fails with a 409 if more match.",
	"wait":      "How long to wait until enough match, by default one, such as 10s. With an upper limit alone, such as count=0: how long it must hold.",
	"operation": "The operationId of the request.", "status": "The status code of the response.", "since": "Only requests after this seq.",
	"method": "The method of the request.", "account": "The id of the account.", "path": "A part of the path.", "body": "A part of the request's body.",
	"fault": "The id of the fault that was applied.", "credential": "none, service_account, access_token or owner.",
	"to": "The recipient.", "forwarding_id": "The rule that the message is for.",
	"id": "The id of the fault or the message.", "account_id": "The id of the account.", "name": "The name of the snapshot.",
	"purchase_batch_id": "The id of the purchase.",
}

// operationIDs contains the id of each endpoint, which generated clients use as the name.
var operationIDs = map[string]string{
	"GET /": "list-endpoints", "GET /openapi.json": "get-openapi", "GET /healthz": "get-health",
	"GET /faults": "list-faults", "POST /faults": "add-fault", "DELETE /faults": "clear-faults",
	"GET /faults/{id}": "get-fault", "DELETE /faults/{id}": "remove-fault", "POST /faults/{id}/release": "release-fault",
	"GET /journal": "list-journal", "DELETE /journal": "clear-journal",
	"GET /outbox": "list-outbox", "GET /outbox/{id}": "get-message-html", "DELETE /outbox": "clear-outbox",
	"GET /clock": "get-clock", "POST /clock": "move-clock",
	"GET /fixture": "dump-fixture", "POST /fixture": "load-fixture", "GET /fixture/schema": "get-fixture-schema",
	"GET /accounts": "list-accounts", "POST /accounts": "create-account", "DELETE /accounts/{account_id}": "delete-account",
	"POST /payments/{purchase_batch_id}": "settle-payment",
	"GET /snapshots":                     "list-snapshots", "PUT /snapshots/{name}": "save-snapshot", "POST /snapshots/{name}/load": "load-snapshot",
	"POST /reset": "reset",
}

// listOf is the body of a list.
type listOf[T any] struct {
	Items []T `json:"items" nullable:"false"`
}

// journalList is the body of GET /journal.
type journalList struct {
	Items   []journal.Entry `json:"items" nullable:"false"`
	LastSeq int64           `json:"last_seq"`
	Dropped int64           `json:"dropped"`
}

// listedAccount is an account in the body of GET /accounts.
type listedAccount struct {
	AccountID string `json:"account_id"`
	Isolated  bool   `json:"isolated"`
}

// responseBodies contains a value of the type of each response body that clients read the most. Other
// bodies are any object.
var responseBodies = map[string]any{
	"GET /faults": listOf[fault.State]{}, "POST /faults": fault.State{}, "GET /faults/{id}": fault.State{},
	"GET /journal": journalList{}, "GET /outbox": listOf[email.Message]{}, "GET /fixture": fixture.Fixture{},
	"GET /accounts": listOf[listedAccount]{}, "POST /accounts": Account{},
}

// describeSuccess returns the responses to a successful request.
func describeSuccess(e endpoint, registry huma.Registry) map[string]any {
	id := e.Method + " " + e.Path
	status := "200"
	switch {
	case e.Method == http.MethodDelete, strings.HasPrefix(e.Path, "/snapshots/"):
		return map[string]any{"204": map[string]any{"description": "Done."}}
	case id == "POST /faults", id == "POST /accounts":
		status = "201"
	}
	html := map[string]any{"schema": map[string]string{"type": "string"}}
	content := map[string]any{"application/json": map[string]any{"schema": map[string]string{"type": "object"}}}
	if body, ok := responseBodies[id]; ok {
		content["application/json"] = map[string]any{"schema": registry.Schema(reflect.TypeOf(body), true, "")}
	}
	switch e.Path {
	case "/outbox":
		content["text/html"] = html
	case "/outbox/{id}":
		content = map[string]any{"text/html": html}
	}
	return map[string]any{status: map[string]any{"description": "Done.", "content": content}}
}

// parameterSchema returns the schema of a query parameter.
func parameterSchema(name string) map[string]any {
	switch name {
	case "count", "min_count", "max_count", "held", "since":
		return map[string]any{"type": "integer", "minimum": 0}
	case "status":
		return map[string]any{"type": "integer", "minimum": 200, "maximum": 599}
	}
	return map[string]any{"type": "string"}
}

// schemaName returns the name of a type's schema. A fixture contains an Account too.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[Account]() {
		return "CreatedAccount"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

func (h server) openAPI(r *http.Request) (any, error) {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	message := map[string]any{"type": "object", "required": []string{"error"}, "properties": map[string]any{"error": map[string]string{"type": "string"}}}
	problem := map[string]any{"description": "The error.", "content": map[string]any{"application/json": map[string]any{"schema": message}}}
	paths := map[string]map[string]any{}
	for _, e := range h.endpoints() {
		list := []map[string]any{}
		for segment := range strings.SplitSeq(e.Path, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				name = strings.TrimSuffix(name, "}")
				list = append(list, map[string]any{"name": name, "in": "path", "required": true, "description": parameters[name], "schema": map[string]string{"type": "string"}})
			}
		}
		for _, name := range e.Query {
			list = append(list, map[string]any{"name": name, "in": "query", "description": parameters[name], "schema": parameterSchema(name)})
		}
		responses := describeSuccess(e, registry)
		responses["4XX"], responses["5XX"] = problem, problem
		operation := map[string]any{
			"operationId": operationIDs[e.Method+" "+e.Path], "summary": strings.ToUpper(e.About[:1]) + e.About[1:], "parameters": list,
			"responses": responses,
		}
		if e.body != nil {
			schema := registry.Schema(reflect.TypeOf(e.body), true, "")
			operation["requestBody"] = map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": schema}}}
		}
		if paths[e.Path] == nil {
			paths[e.Path] = map[string]any{}
		}
		paths[e.Path][strings.ToLower(e.Method)] = operation
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "mailhostd control plane", "version": "1", "description": "For tests of a running service; it needs no credential.",
			"license": map[string]string{"name": "Mozilla Public License 2.0", "identifier": "MPL-2.0"},
		},
		"servers": []map[string]string{{"url": cmp.Or(strings.TrimSuffix(r.RequestURI, "/openapi.json"), "/"), "description": "This control plane."}}, "security": []any{},
		"paths": paths, "components": map[string]any{"schemas": registry.Map()},
	}, nil
}

func (h server) fixtureSchema(*http.Request) (any, error) {
	registry := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	root := registry.Schema(reflect.TypeFor[fixture.Fixture](), true, "")
	return map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": root.Ref, "$defs": registry.Map()}, nil
}
