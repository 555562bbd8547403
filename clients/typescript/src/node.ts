import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Place } from "./feed.js";

/** Keeps the place of an event consumer in a file. The place survives a crash of the machine. */
export function filePlace(path: string): Place {
  return {
    async load() {
      const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      if (text === undefined) return undefined;
      if (!/^\d{1,15}\n$/.test(text)) throw new Error(`${path} does not hold a sequence`);
      return Number(text);
    },
    async save(sequence) {
      const next = `${path}.next`;
      await written(next, "w", (file) => file.writeFile(`${sequence}\n`));
      await rename(next, path);
      // The new name is on the disk once its directory is.
      if (process.platform !== "win32") await written(dirname(path), "r", async () => undefined);
    },
  };
}

async function written(path: string, flags: string, write: (file: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  const file = await open(path, flags);
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
