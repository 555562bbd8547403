import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Client, type Options } from "../src/index.js";

export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** These limits suit a test in which the server is silent. */
export const brief = { deadlineMs: 1500, tryMs: 300 };

export type Respond = (seen: Seen, n: number, to: ServerResponse) => void;

/** Starts a server in which each test decides what Kobo answers. It gives tokens by itself, unless refuseToken answers. The limits of the client are long, so a slow machine changes no outcome. */
export async function serve(respond: Respond, options: Partial<Options> = {}, refuseToken?: (to: ServerResponse) => boolean) {
  const seen: Seen[] = [];
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (d: Buffer) => (body += d.toString()));
    request.on("end", () => {
      const path = request.url ?? "";
      if (path.startsWith("/api/v1/auth/")) {
        tokens.push(path);
        if (refuseToken?.(response)) return;
        return json(response, 200, { accessToken: `access-${tokens.length}`, refreshToken: "refresh" });
      }
      seen.push({ method: request.method ?? "", path, headers: request.headers, body });
      respond(seen.at(-1)!, seen.length, response);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/`;
  return {
    url,
    seen,
    tokens,
    client: new Client({ baseUrl: url, reference: "company", apiKey: "key", deadlineMs: 20_000, tryMs: 10_000, ...options }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function json(to: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  to.writeHead(status, { "Content-Type": "application/json", ...headers });
  to.end(typeof body === "string" ? body : JSON.stringify(body));
}
