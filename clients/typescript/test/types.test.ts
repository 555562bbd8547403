import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

test("tsc refuses each program that forgets the unknown", () => {
  const file = join(root, "test/omission/shop.ts");
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([file], { ...options, noEmit: true, rootDir: root });
  const refused = ts.getPreEmitDiagnostics(program).map((d) => {
    const line = d.file && d.start !== undefined ? d.file.getLineAndCharacterOfPosition(d.start).line + 1 : 0;
    return `${line} TS${d.code}`;
  });
  const planted = readFileSync(file, "utf8").split("\n").flatMap((line, i) => {
    const code = /\/\/ refused: (TS\d+)$/.exec(line)?.[1];
    return code ? [`${i + 1} ${code}`] : [];
  });
  assert.equal(planted.length, 7);
  assert.deepEqual(refused, planted);
});
