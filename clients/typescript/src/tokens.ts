import { KoboError } from "./errors.js";

/** What the tokens need from the API. */
export interface TokenSource {
  generate(): Promise<{ accessToken: string; refreshToken: string }>;
  refresh(refreshToken: string): Promise<{ accessToken: string }>;
}

/** Tokens holds the access token. Concurrent calls share one renewal. */
export class Tokens {
  #access: string | undefined;
  #refresh: string | undefined;
  #renewal: Promise<string> | undefined;
  readonly #source: TokenSource;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** Returns an access token, and a new one if the present one is the refused one. */
  get(refused?: string): Promise<string> {
    if (this.#access !== undefined && this.#access !== refused) return Promise.resolve(this.#access);
    this.#renewal ??= this.#renew().finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  async #renew(): Promise<string> {
    return (this.#access = (await this.#refreshed()) ?? (await this.#generated()));
  }

  async #refreshed(): Promise<string | undefined> {
    if (this.#refresh === undefined) return undefined;
    try {
      return (await this.#source.refresh(this.#refresh)).accessToken;
    } catch (error) {
      // A later exchange of the API key, perhaps by another program, has replaced the refresh token.
      if (error instanceof KoboError && error.reason === "refresh_token_invalid") return undefined;
      throw error;
    }
  }

  async #generated(): Promise<string> {
    const { accessToken, refreshToken } = await this.#source.generate();
    this.#refresh = refreshToken;
    return accessToken;
  }
}
