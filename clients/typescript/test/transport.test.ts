import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { type Client, KoboError, naira, type Options } from "../src/index.js";
import { brief, json, type Respond, serve } from "./server.js";

const order = { verify_id: "v-1", amount: naira("1500.50") };
const sent = `{"reference":"v-1","amount":1500.5,"fee":25,"status":"SUCCESS","account_name":"A","account_number":"0","bank_code":"0","narration":null,"createdAt":""}`;
const paid = `{"status":"success","message":"Payout successful","data":${sent}}`;
const why = (reason: string, more: Record<string, string> = {}) => ({ "Kobo-Reason": reason, ...more });

async function payWith(respond: Respond, options: Partial<Options> = {}) {
  const server = await serve(respond, options);
  try {
    return { outcome: await server.client.payout(order), seen: server.seen };
  } finally {
    await server.close();
  }
}

test("a key is made before the first try, and stays over all tries with the same body", async () => {
  const { outcome, seen } = await payWith((_, n, to) => {
    if (n === 1) to.destroy();
    else if (n === 2) json(to, 503, { status: "error", message: "x" }, why("service_unavailable", { "Retry-After": "0" }));
    else if (n === 3) json(to, 409, { status: "error", message: "x" }, why("request_in_progress", { "Retry-After": "0" }));
    else json(to, 200, paid);
  });
  assert.equal(outcome.outcome, "succeeded");
  assert.equal(seen.length, 4);
  assert.equal(new Set(seen.map((s) => s.headers["idempotency-key"])).size, 1);
  assert.deepEqual(new Set(seen.map((s) => s.body)), new Set(['{"verify_id":"v-1","amount":1500.50}']));
});

test("what does not say for sure that nothing was paid is unknown, and never declined", async () => {
  const answers: Record<string, (to: ServerResponse) => void> = {
    "no response": () => undefined,
    "a broken connection": (to) => to.destroy(),
    "half a body": (to) => {
      to.writeHead(200, { "Content-Length": "500" });
      to.write(paid.slice(0, 40));
      setTimeout(() => to.destroy(), 10);
    },
    "a 500": (to) => json(to, 500, { status: "error", message: "x" }, why("internal_error")),
    "a 502 of a proxy": (to) => json(to, 502, "<html>Bad Gateway</html>"),
    "a 403 of a proxy": (to) => json(to, 403, "<html>Forbidden</html>"),
    "a 404 of a proxy": (to) => json(to, 404, "not found"),
    "a 400 without a word": (to) => json(to, 400, { error: " failed: Payout failed. Your balance has been refunded." }),
    "a redirect": (to) => json(to, 307, "", { Location: "http://127.0.0.1:1/elsewhere" }),
    "a word that is being confirmed": (to) => json(to, 400, { status: "error", message: "x", data: { reference: "v-1" } }, why("being_confirmed")),
    "a word of a later release": (to) => json(to, 400, { error: " failed: x" }, why("half_done")),
    "a success that is pending": (to) => json(to, 200, paid.replace("SUCCESS", "PENDING")),
    "an approval that waits": (to) => json(to, 202, { status: "success", message: "Waiting for a second person", data: { id: "a-1", state: "WAITING" } }),
    "a success that cannot be read": (to) => json(to, 200, "<html>OK</html>"),
    "a success with a broken amount": (to) => json(to, 200, paid.replace("1500.5", "1500.555")),
  };
  for (const [name, respond] of Object.entries(answers)) {
    const { outcome } = await payWith((_, _n, to) => respond(to), brief);
    assert.equal(outcome.outcome, "unknown", name);
  }
});

test("a refusal before the look at the key does not end a payment that may have left", async () => {
  const { outcome } = await payWith((_, n, to) => (n === 1 ? to.destroy() : json(to, 403, { code: "KYB_REQUIRED" }, why("kyb_required"))));
  assert.equal(outcome.outcome, "unknown");
  const first = await payWith((_, _n, to) => json(to, 403, { code: "KYB_REQUIRED" }, why("kyb_required")));
  assert.equal(first.outcome.outcome === "declined" && first.outcome.reason, "kyb_required");
  const server = await serve((_, _n, to) => json(to, 403, { code: "KYB_REQUIRED" }, why("kyb_required")));
  const own = await server.client.payout(order, { key: "stored-before" }); // an earlier process may have sent it
  assert.equal(own.outcome, "unknown");
  await server.close();
});

test("a definite refusal is declined, with its word", async () => {
  const { outcome, seen } = await payWith((_, _n, to) => json(to, 400, { error: " failed: Insufficient balance" }, why("insufficient_balance", { "X-Request-Id": "r-1" })));
  assert.deepEqual(outcome, { outcome: "declined", reason: "insufficient_balance", message: "failed: Insufficient balance", reference: undefined, requestId: "r-1" });
  assert.equal(seen.length, 1);
});

test("Retry-After is kept, and a wait beyond the deadline is not begun", async () => {
  const times: number[] = [];
  const { outcome } = await payWith((_, n, to) => {
    times.push(Date.now());
    if (n === 1) json(to, 429, { status: "error", message: "x" }, why("rate_limited", { "Retry-After": "1" }));
    else json(to, 200, paid);
  });
  assert.equal(outcome.outcome, "succeeded");
  assert.ok(times[1]! - times[0]! >= 990, `waited ${times[1]! - times[0]!} ms`);
  const start = Date.now();
  const late = await payWith((_, _n, to) => json(to, 429, { status: "error", message: "x" }, why("rate_limited", { "Retry-After": "60" })));
  assert.equal(late.outcome.outcome === "declined" && late.outcome.reason, "rate_limited");
  assert.ok(Date.now() - start < 20_000, "the client waited until its deadline");
});

test("a redirect is not followed", async () => {
  const server = await serve((seen, _n, to) =>
    seen.path === "/elsewhere" ? json(to, 200, { status: "success", data: [] }) : json(to, 302, "", { Location: "/elsewhere" }),
  );
  await assert.rejects(server.client.call("listBanks"), (e: KoboError) => e.status === 302);
  assert.equal(server.seen.length, 1);
  await server.close();
});

test("many calls share one exchange of the API key and one refresh", async () => {
  let valid = "access-1";
  const server = await serve((seen, _n, to) => {
    if (seen.headers.authorization !== `Bearer ${valid}`) return json(to, 403, { message: "Invalid or expired access token" }, why("token_invalid"));
    json(to, 200, { status: "success", data: [] });
  });
  const many = () => Promise.all(Array.from({ length: 20 }, () => server.client.call("listBanks")));
  await many();
  assert.deepEqual(server.tokens, ["/api/v1/auth/generate-token/company"]);
  valid = "access-2";
  await many();
  assert.deepEqual(server.tokens, ["/api/v1/auth/generate-token/company", "/api/v1/auth/refresh-access-token/"]);
  await server.close();
});

test("a request without a key is not sent twice", async () => {
  const server = await serve((_, _n, to) => to.destroy());
  await assert.rejects(server.client.call("generateCardToken", { path: { cardId: "c" } }));
  assert.equal(server.seen.length, 1);
  await server.close();
});

test("a key that no header can carry is refused before anything is sent, and one with a space is sent", async () => {
  const server = await serve((_, _n, to) => json(to, 200, paid));
  for (const key of ["", "é", "₦-1", "a\nb", "a\tb", " a", "a ", "k".repeat(256)]) {
    await assert.rejects(server.client.payout(order, { key }), TypeError, JSON.stringify(key));
    await assert.rejects(server.client.buyAirtime({ serviceCategoryId: "c", phoneNumber: "08030123410", amount: 100n, settlementId: 1 }, { key }), TypeError);
    await assert.rejects(server.client.call("createSettlementAccount", { body: { name: "One" }, key }), TypeError);
  }
  assert.equal(server.seen.length + server.tokens.length, 0);
  for (const key of ["!", "invoice 2417", "k".repeat(255)]) {
    assert.equal((await server.client.payout(order, { key })).outcome, "succeeded", key);
    assert.equal(server.seen.at(-1)?.headers["idempotency-key"], key);
  }
  await server.close();
});

test("a key token, which works once, is not sent twice", async () => {
  const server = await serve(() => undefined, {}, (to) => (json(to, 503, { message: "x" }, why("service_unavailable", { "Retry-After": "0" })), true));
  await assert.rejects(server.client.call("claimKey", { path: { reference: "company" }, body: { keyToken: "t" } }), (e: KoboError) => e.status === 503);
  assert.equal(server.tokens.length, 1);
  await server.close();
});

test("each POST with an effect has a key, and no two have the same", async () => {
  const server = await serve((_, _n, to) => json(to, 200, { status: "success", data: {} }));
  await server.client.call("createSettlementAccount", { body: { name: "One" } });
  await server.client.call("createSettlementAccount", { body: { name: "One" } });
  await server.client.call("createSettlementAccount", { body: { name: "One" }, key: "mine" });
  const keys = server.seen.map((s) => s.headers["idempotency-key"]);
  assert.equal(new Set(keys).size, 3);
  assert.equal(keys[2], "mine");
  await server.close();
});

test("an approval that waits is no error, and its money is read", async () => {
  const approval = `{"id":"a-1","kind":"REVOKE_API_KEY","state":"WAITING","payout":null,"payoutApproval":{"amount":1500.5}}`;
  const server = await serve((_, _n, to) => json(to, 202, `{"status":"success","message":"Waiting for a second person","data":${approval}}`));
  const revoked = await server.client.call("revokeAPIKey", { path: { id: "k-1" }, body: { pin: "1234" } });
  assert.ok("data" in revoked);
  assert.equal(revoked.data.state, "WAITING");
  assert.equal(revoked.data.payoutApproval?.amount, 150050n);
  const issued = await server.client.call("issueAPIKey", { body: { pin: "1234", name: "Shop" } });
  assert.ok("state" in issued.data && issued.data.state === "WAITING");
  await server.close();
});

test("a payment without a server throws nothing but an unknown, and without a token it has not begun", async () => {
  const server = await serve(() => undefined, brief);
  await server.close();
  await assert.rejects(server.client.payout(order), { name: "ConnectionError" });
});

test("an aborted payment is unknown, and one that had not begun throws", async () => {
  const server = await serve(() => undefined);
  const outcome = await server.client.payout(order, { signal: AbortSignal.timeout(100) });
  assert.equal(outcome.outcome, "unknown");
  const seen = server.seen.length;
  await assert.rejects(server.client.payout(order, { signal: AbortSignal.abort(new Error("stopped")) }), /stopped/);
  assert.equal(server.seen.length, seen);
  await server.close();
});

test("money that is a number is refused before it is sent", async () => {
  const server = await serve((_, _n, to) => json(to, 200, paid));
  const wrong = { verify_id: "v", amount: 10.5 } as unknown as Parameters<Client["payout"]>[0];
  await assert.rejects(server.client.payout(wrong), TypeError);
  assert.equal(server.seen.length, 0);
  await server.close();
});

test("follow repeats a request without a response under its key, and looks at a known one until its end", async () => {
  let state = "PENDING";
  const server = await serve((seen, n, to) => {
    if (seen.path.startsWith("/api/v1/events")) return json(to, 200, { status: "success", data: { data: [], hasMore: false } });
    if (seen.method === "GET") {
      const answer = json.bind(undefined, to, 200, `{"status":"success","data":${sent.replace("SUCCESS", state)}}`);
      return state === "PENDING" ? ((state = "SUCCESS"), to.setHeader("Kobo-Reason", "being_confirmed"), answer()) : answer();
    }
    return n < 4 ? to.destroy() : json(to, 200, paid.replace("SUCCESS", "PENDING"), why("being_confirmed"));
  }, { deadlineMs: 200 });
  const outcome = await server.client.payout(order, { key: "k-1" });
  assert.equal(outcome.outcome, "unknown");
  assert.ok(outcome.outcome === "unknown" && outcome.reference === undefined);
  state = "SUCCESS";
  const end = await outcome.follow({ signal: AbortSignal.timeout(10_000) });
  assert.equal(end.outcome, "succeeded");
  assert.equal(end.outcome === "succeeded" && "amount" in end.data && end.data.amount, 150050n);
  const posts = server.seen.filter((s) => s.method === "POST");
  assert.ok(posts.length >= 4);
  assert.deepEqual(new Set(posts.map((s) => s.headers["idempotency-key"])), new Set(["k-1"]));
  await server.close();
});

/** A server that takes no access token from before a moment, and refuses the first renewals after it. */
async function renewing(respond: Respond, refusing: () => boolean) {
  let old: string | undefined;
  const refuse = (to: ServerResponse) => {
    if (old === undefined || !refusing()) return false;
    json(to, 503, { message: "x" }, why("service_unavailable", { "Retry-After": "3" }));
    return true;
  };
  const server = await serve((seen, n, to) => {
    if (seen.headers.authorization === old) return json(to, 403, { message: "x" }, why("token_invalid"));
    if (seen.method === "POST") old ??= seen.headers.authorization;
    respond(seen, n, to);
  }, { deadlineMs: 2_000 }, refuse);
  return server;
}

test("follow repeats a request although Kobo gives no access token for a moment", async () => {
  let renewals = 0;
  const server = await renewing((_, n, to) => (n === 1 ? json(to, 500, { message: "x" }, why("internal_error", { "Retry-After": "60" })) : json(to, 200, paid)), () => renewals++ === 0);
  const outcome = await server.client.payout(order, { key: "k-1" });
  assert.ok(outcome.outcome === "unknown" && outcome.reference === undefined);
  assert.equal((await outcome.follow({ signal: AbortSignal.timeout(60_000) })).outcome, "succeeded");
  assert.ok(renewals > 1);
  await server.close();
});

test("follow looks at a payment again although Kobo gives no access token for a moment", async () => {
  let refused = 0;
  const server = await renewing((seen, _n, to) => {
    if (seen.method === "POST") return json(to, 200, paid.replace("SUCCESS", "PENDING"), why("being_confirmed"));
    if (!seen.path.startsWith("/api/v1/events")) return json(to, 200, `{"status":"success","data":${sent}}`);
    const event = { id: "e", sequence: 2, event: "payout.success", data: { reference: "v-1", amount: 1500.5, fee: 25 } };
    setTimeout(() => json(to, 200, { status: "success", data: { data: seen.path.includes("after=1&") && !seen.path.includes("wait=0") ? [event] : [], hasMore: false } }), 50);
  }, () => {
    // The look at the payment has to meet a refusal, whatever the feed asks meanwhile.
    const looked = server.seen.some((s) => s.method === "GET" && !s.path.startsWith("/api/v1/events"));
    return !looked || refused++ === 0;
  });
  const outcome = await server.client.payout(order, { key: "k-1" });
  assert.ok(outcome.outcome === "unknown" && outcome.reference === "v-1");
  assert.equal((await outcome.follow({ signal: AbortSignal.timeout(60_000) })).outcome, "succeeded");
  assert.ok(refused > 0);
  await server.close();
});

test("a poll for events ends before the deadline of its call, and does not ask again at once", async () => {
  for (const [limits, wait] of [[{ deadlineMs: 5_000, tryMs: 40_000 }, "2"], [{ deadlineMs: 40_000, tryMs: 5_000 }, "2"], [{ deadlineMs: 1_900 }, "0"]] as const) {
    const stop = new AbortController();
    let first: number | undefined;
    const times: number[] = [];
    const server = await serve((_, n, to) => {
      first ??= Date.now();
      times.push(Date.now() - first);
      if (wait !== "0" || n > 2) stop.abort();
      json(to, 200, { status: "success", data: { data: [], hasMore: false } });
    }, limits);
    for await (const _ of server.client.events({ load: () => Promise.resolve(7), save: () => Promise.resolve() }, stop.signal)) assert.fail("an event");
    assert.equal(new URL(server.seen[0]!.path, server.url).searchParams.get("wait"), wait);
    if (wait === "0") assert.ok(times[2]! >= 700, `three polls in ${times[2]} ms`);
    await server.close();
  }
});

test("follow says so when Kobo does not show the outcome any more", async () => {
  const server = await serve((seen, _n, to) => {
    if (seen.method === "POST") return json(to, 200, paid.replace("SUCCESS", "PENDING"), why("being_confirmed"));
    json(to, 403, { code: "KYB_REQUIRED" }, why("kyb_required"));
  });
  const outcome = await server.client.payout(order);
  assert.ok(outcome.outcome === "unknown");
  await assert.rejects(outcome.follow(), (e: KoboError) => e.reason === "kyb_required");
  await server.close();
});
