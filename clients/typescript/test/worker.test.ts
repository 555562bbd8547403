import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { json, serve } from "./server.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const sent = `{"reference":"v-1","amount":1500.5,"fee":25,"status":"SUCCESS","account_name":"A","account_number":"0","bank_code":"0","narration":null,"createdAt":""}`;

// Deno, Bun and workers are not run here. They have the globals of the web, and these are all that the core may use.
test("the core needs no type of Node, and no DOM", () => {
  const program = ts.createProgram([join(root, "src/index.ts")], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.webworker.d.ts", "lib.webworker.iterable.d.ts"],
    types: [],
    skipLibCheck: true, // the types of standardwebhooks name Buffer, and its code does not need it
    strict: true,
    noEmit: true,
  });
  const problems = ts.getPreEmitDiagnostics(program).map((d) => `${d.file?.fileName}: ${ts.flattenDiagnosticMessageText(d.messageText, " ")}`);
  assert.deepEqual(problems, []);
  const nodes = program.getSourceFiles().filter((f) => f.fileName.includes("@types/node"));
  assert.deepEqual(nodes.map((f) => f.fileName), []);
});

test("the core runs with the globals of the web alone", async () => {
  const server = await serve((_, __, to) => json(to, 200, `{"status":"success","message":"Payout successful","data":${sent}}`));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--experimental-vm-modules", "--no-warnings", join(root, "test/worker/run.mjs"), join(root, "build/src/index.js"), server.url,
    ]);
    const { files, ...done } = JSON.parse(stdout) as { files: number };
    assert.deepEqual(done, { outcome: "succeeded", amount: "1500.50", event: "payout.success", told: "1500.50" });
    assert.ok(files > 12, `${files} files: the graph was not walked`);
  } finally {
    await server.close();
  }
});
