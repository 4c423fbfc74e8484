// The module for Cloudflare Workers and Deno: `npm run edge:bundle` writes it into one file.
import { frontendEdge } from './frontend-edge.ts';
import type { InBackground, TextStore } from './kept.ts';

export { frontendEdge, type FrontendEdgeOptions, type FrontendRequestOptions } from './frontend-edge.ts';
export type { InBackground, TextStore } from './kept.ts';

/** The variables, secrets and bindings of a worker. */
export interface WorkerEnvironment {
  readonly UPSTREAM_URL: string;
  /** client tokens, separated by commas */
  readonly TOKENS: string;
  readonly TOKEN_HEADER?: string;
  readonly FEATURES_REFRESH_INTERVAL_SECONDS?: string;
  readonly TOKEN_REVALIDATION_INTERVAL_SECONDS?: string;
  /** a namespace of Workers KV */
  readonly BUNTING_STORE?: TextStore;
}

let respond: ReturnType<typeof frontendEdge> | undefined;

type Interval = 'FEATURES_REFRESH_INTERVAL_SECONDS' | 'TOKEN_REVALIDATION_INTERVAL_SECONDS';

function intervalMs(name: Interval, settings: Partial<Record<Interval, string>>, otherwise: number): number {
  const seconds = Number(settings[name] ?? otherwise);
  if (!(seconds >= 1)) throw new Error(`${name} is a number of seconds, 1 or more.`);
  return seconds * 1_000;
}

function start({ UPSTREAM_URL, TOKENS, TOKEN_HEADER, ...settings }: WorkerEnvironment) {
  if (!URL.canParse(UPSTREAM_URL ?? '')) throw new Error('UPSTREAM_URL is the URL of Bunting, Unleash or an edge.');
  const tokens = (TOKENS ?? '').split(',').flatMap((token) => (token.trim() === '' ? [] : [token.trim()]));
  if (tokens.length === 0) throw new Error('TOKENS are client tokens, separated by commas.');
  return frontendEdge({
    upstreamUrl: UPSTREAM_URL,
    tokens,
    refreshMs: intervalMs('FEATURES_REFRESH_INTERVAL_SECONDS', settings, 15),
    revalidateMs: intervalMs('TOKEN_REVALIDATION_INTERVAL_SECONDS', settings, 60),
    ...(TOKEN_HEADER === undefined ? {} : { tokenHeader: TOKEN_HEADER }),
    ...(settings.BUNTING_STORE === undefined ? {} : { store: settings.BUNTING_STORE }),
  });
}

/** A worker whose settings are its variables. Cloudflare sets the address of the user; clients cannot. */
const worker = {
  fetch: (
    request: Request,
    environment: WorkerEnvironment,
    context: { readonly waitUntil: InBackground },
  ): Promise<Response> =>
    (respond ??= start(environment))(request, {
      address: request.headers.get('cf-connecting-ip') ?? undefined,
      inBackground: (work) => context.waitUntil(work),
    }),
};
export { worker as default };
