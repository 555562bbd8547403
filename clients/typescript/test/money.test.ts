import assert from "node:assert/strict";
import { test } from "node:test";
import { naira, nairaText } from "../src/index.js";
import { checkMoney, decode, encode } from "../src/json.js";
import { eventMoney, table } from "../src/operations.gen.js";

test("naira are read and written by their digits", () => {
  for (const [text, kobo, again] of [
    ["0", 0n, "0.00"],
    ["5000", 500000n, "5000.00"],
    ["1500.5", 150050n, "1500.50"],
    ["0.07", 7n, "0.07"],
    ["-25.10", -2510n, "-25.10"],
    ["-0.05", -5n, "-0.05"],
    ["99999999999999999999.99", 9999999999999999999999n, "99999999999999999999.99"],
    ["2.500", 250n, "2.50"],
  ] as const) {
    assert.equal(naira(text), kobo, text);
    assert.equal(nairaText(kobo), again, text);
  }
  for (const text of ["", "1e3", "1.005", " 1", "1.", ".5", "+1", "NaN", "1,000", "₦1"]) assert.throws(() => naira(text), RangeError, text);
});

test("no amount passes through a float", () => {
  const text = `{"data":{"amount":90071992547409.93,"name":"12.50 \\" \\\\","n":7,"list":[{"fee":0.1},{"fee":null},{}],"text":"1500.00"}}`;
  assert.deepEqual(decode(text, ["data/amount", "data/list/*/fee", "data/text", "data/none/x"]), {
    data: { amount: 9007199254740993n, name: '12.50 " \\', n: 7, list: [{ fee: 10n }, { fee: null }, {}], text: 150000n },
  });
  assert.equal(encode({ amount: 9007199254740993n, none: undefined, list: [1n, "x", null], whole: 500n }), '{"amount":90071992547409.93,"list":[0.01,"x",null],"whole":5}');
  assert.throws(() => checkMoney({ lines: [{ amount: 1n }, { amount: 1 }] }, ["lines/*/amount"]), TypeError);
});

test("the contract's money is where it is expected", () => {
  assert.deepEqual(table.sendPayout.in, ["amount"]);
  assert.deepEqual(table.generateVirtualAccount.in, ["amount"]);
  assert.deepEqual(table.findPayout.out, ["data/amount", "data/fee"]);
  assert.ok((table.listLedgerEntries.out as string[]).includes("data/data/*/previous_balance"));
  assert.ok((table.listCategoryProducts.out as string[]).includes("data/*/amount"));
  assert.ok(!(table.listCryptoTransactions.out as string[]).includes("data/data/*/amount"), "units of a coin are not naira");
  assert.deepEqual(eventMoney["payout.success"], ["amount", "fee"]);
  const company = table.findCompany.out as string[];
  assert.ok(company.includes("data/fees/*/flat") && !company.includes("data/fees/*/percent"), "a percentage is not naira");
  assert.deepEqual(eventMoney["company.fees_changed"], ["bands/*/from", "bands/*/flat", "bands/*/cap"]);
});
