package control

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// parameters describes the parameters of all endpoints.
var parameters = map[string]string{
	"held": "Waits until the fault holds that many requests.", "timeout": "How long to wait for held requests, such as 10s.",
	"count": "Fails with a 409 unless exactly that many match.", "wait": "How long to wait until count match, by default one, such as 10s.",
	"operation": "The operationId of the request.", "status": "The status code of the response.", "since": "Only requests after this seq.",
	"method": "The method of the request.", "account": "The id of the account.", "path": "A part of the path.", "body": "A part of the request's body.",
	"fault": "The id of the fault that was applied.", "credential": "none, service_account, access_token or owner.",
	"to": "The recipient.", "forwarding_id": "The rule that the message is for.",
}

func (h server) openAPI(*http.Request) (any, error) {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	paths := map[string]map[string]any{}
	for _, e := range h.endpoints() {
		list := []map[string]any{}
		for segment := range strings.SplitSeq(e.Path, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				list = append(list, map[string]any{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": map[string]string{"type": "string"}})
			}
		}
		for _, name := range e.Query {
			list = append(list, map[string]any{"name": name, "in": "query", "description": parameters[name], "schema": map[string]string{"type": "string"}})
		}
		problem := map[string]any{"description": "What is wrong, as {\"error\": …}."}
		operation := map[string]any{"summary": e.About, "parameters": list, "responses": map[string]any{"2XX": map[string]any{"description": "It is done."}, "default": problem}}
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
		"openapi": "3.1.0", "info": map[string]string{"title": "mailhostd control plane", "version": "1"},
		"paths": paths, "components": map[string]any{"schemas": registry.Map()},
	}, nil
}

func (h server) fixtureSchema(*http.Request) (any, error) {
	registry := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	root := registry.Schema(reflect.TypeFor[fixture.Fixture](), true, "")
	return map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": root.Ref, "$defs": registry.Map()}, nil
}
