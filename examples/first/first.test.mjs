// Runs the first integration against `kobo dev`, and compares what it prints. KOBO_BIN is the path of kobo.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Dev } from "../../clients/typescript/build/test/dev.js";

test("a payout whose answer is lost ends as paid, and the webhooks tell it", async () => {
  const dev = await Dev.start();
  try {
    await copyFile(join(dev.folder, "credentials.json"), join(dev.folder, "kobo.json"));
    const program = new URL("build/first.js", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: dev.folder, timeout: 60_000 });
    const told = stdout.trim().split("\n");
    assert.deepEqual(told.filter((line) => !line.startsWith("webhook:") && !line.startsWith("payee:")), [
      "first answer: unknown",
      "true end: succeeded",
      "balance: 998499.50",
    ]);
    assert.deepEqual(told.filter((line) => line.startsWith("webhook:")).sort(), ["webhook: payout.pending", "webhook: payout.success"]);
  } finally {
    await dev.stop();
  }
});
