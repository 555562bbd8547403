import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type Options } from "../src/index.js";
import { sleep } from "../src/transport.js";

export interface Credentials {
  base_url: string;
  reference: string;
  api_key: string;
  pin: string;
  settlement_id: number;
  settlement_account_number: string;
}

/** A line of the sandbox's own books. */
export interface Executed {
  reference: string;
  kind: string;
  amount: number;
  status: string;
  executions: number;
  requests: number;
}

/** Dev is a running `kobo dev`, on a port and in a folder of its own. */
export class Dev {
  #child: ChildProcess | undefined;
  #log = "";
  credentials!: Credentials;

  private constructor(
    readonly folder: string,
    readonly port: number,
  ) {}

  static async start(): Promise<Dev> {
    const dev = new Dev(await mkdtemp(join(tmpdir(), "kobo-client-")), await freePort());
    await dev.up();
    return dev;
  }

  /** Starts the program, again with the same books. */
  async up(): Promise<void> {
    const binary = process.env["KOBO_BIN"];
    if (!binary) throw new Error("KOBO_BIN must be the path of kobo");
    const file = join(this.folder, "credentials.json");
    await rm(file, { force: true });
    const child = spawn(binary, ["dev", "--listen", `127.0.0.1:${this.port}`, "--data", join(this.folder, "data"), "--credentials", file], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream!.on("data", (d: Buffer) => (this.#log = (this.#log + d.toString()).slice(-20_000)));
    const end = Date.now() + 60_000;
    for (;;) {
      const text = await readFile(file, "utf8").catch(() => "");
      if (text.trim().endsWith("}")) {
        this.credentials = JSON.parse(text) as Credentials;
        return;
      }
      if (child.exitCode !== null || Date.now() > end) throw new Error(`kobo dev is not ready:\n${this.#log}`);
      await sleep(20);
    }
  }

  /** Ends the program at once, as a loss of power does. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  client(options: Partial<Options> = {}): Client {
    const { base_url: baseUrl, reference, api_key: apiKey } = this.credentials;
    return new Client({ baseUrl, reference, apiKey, ...options });
  }

  async sandbox<T>(path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.credentials.base_url}/sandbox/${path}`, {
      method: body ? "POST" : "GET",
      headers: { "Content-Type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`/sandbox/${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  async advance(time: string): Promise<void> {
    await this.sandbox("clock", { advance: time });
  }

  async executed(): Promise<Executed[]> {
    return (await this.sandbox<{ data: Executed[] }>("provider-ledger")).data;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/** Returns the category of airtime of the first network. */
export async function airtimeCategory(client: Client): Promise<string> {
  const services = await client.call("listServices");
  const service = services.data.find((s) => s.serviceName === "Airtime");
  const categories = await client.call("listServiceCategories", { path: { serviceId: service?.serviceId ?? "" } });
  return categories.data[0]?.serviceCategoryId ?? "";
}

/** Returns a virtual card of a new customer. */
export async function newCard(client: Client): Promise<string> {
  const run = crypto.randomUUID();
  const customer = await client.call("createCustomer", {
    body: {
      firstName: "Ada",
      lastName: "Obi",
      email: `ada-${run}@example.com`,
      phoneNumber: "08012345678",
      bvn: `222${String(Math.floor(Math.random() * 1e6)).padStart(6, "0")}11`,
      address: { line1: "1 Marina", city: "Lagos", state: "Lagos" },
    },
  });
  const customerId = customer.data.id;
  await client.call("generateCustomerAccount", { body: { customerId, otp: "123456" } });
  const card = await client.call("generateCard", { body: { customerId, type: "virtual" } });
  return card.data.cardId;
}

export async function balanceOf(client: Client, id: number): Promise<bigint> {
  const accounts = await client.call("listSettlementAccounts");
  const account = accounts.data.find((a) => a.id === id);
  if (!account) throw new Error(`there is no settlement account ${id}`);
  return account.balance;
}
