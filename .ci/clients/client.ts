// Creates an object with the generated client and checks it with the generated schemas, is refused
// another, and deletes the first.
import createClient from "openapi-fetch";
import assert from "node:assert/strict";
import type { components, paths } from "./schema.js";
import * as zod from "./zod.js";

const client = createClient<paths>({
  baseUrl: process.env.MAILHOST_BASE_URL,
  headers: { Authorization: `Bearer ${process.env.MAILHOST_TOKEN}` },
});
const account_id = process.env.MAILHOST_ACCOUNT_ID!;
const path = "/v1/public/accounts/{account_id}/auth/service-accounts";

const body = zod.createServiceAccountBody.parse({ name: "Prüfung" });
assert.throws(() => zod.createServiceAccountBody.parse({ name: "two\nlines" }));

const created = await client.POST(path, { params: { path: { account_id } }, body });
assert.equal(created.response.status, 201);
assert.equal(created.data!.name, body.name);
// @ts-expect-error: a schema has only the members that the document names.
assert.equal(created.data!.nmae, undefined);

const list = await client.GET(path, { params: { path: { account_id } } });
assert.equal(zod.listServiceAccountsResponse.parse(list.data).total, 2);

const refused = await client.POST(path, { params: { path: { account_id } }, body: { name: "" } });
const type: components["schemas"]["Problem"]["type"] = refused.error!.detail[0].type;
assert.equal(type, "string_too_short");

const deleted = await client.DELETE(`${path}/{service_account_id}`, {
  params: { path: { account_id, service_account_id: created.data!.id } },
});
assert.equal(deleted.response.status, 204);
