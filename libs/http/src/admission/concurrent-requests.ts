import { type Refusal, refusal, unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpSettings } from '../settings.ts';

/** A limit on how many permits are held concurrently under one key, and the refusal beyond it. */
export interface Quota {
  /** what the permits are counted under, e.g. `user 7` */
  readonly key: string;
  readonly limit: number;
  /** creates the refusal of a permit beyond the limit */
  readonly refuse: () => Refusal;
}

/** So many keys without permits are kept: a map that shrinks and grows with each request leaves its former tables to be collected. */
const maxIdleKeys = 1_000;

/** A semaphore that counts each permit under several keys, such as those of a token, a user and the whole process. */
export function concurrencyLimit() {
  const permits = new Map<string, number>();
  const countOf = (key: string): number => permits.get(key) ?? 0;
  const change = (key: string, by: 1 | -1): void => {
    const count = countOf(key) + by;
    if (count === 0 && permits.size > maxIdleKeys) permits.delete(key);
    else permits.set(key, count);
  };

  return {
    inUse: countOf,
    /**
     * Acquires a permit under all of the quotas, or under none.
     * @returns a function that releases the permit; a second call does nothing
     * @throws Refusal of the first quota that is used up
     */
    acquire: (quotas: readonly Quota[]): (() => void) => {
      const usedUp = quotas.find(({ key, limit }) => countOf(key) >= limit);
      if (usedUp !== undefined) throw usedUp.refuse();
      for (const { key } of quotas) change(key, 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        for (const { key } of quotas) change(key, -1);
      };
    },
  };
}

/** The client that limits count a request under, once it is authenticated. */
export interface QuotaClient {
  /**
   * names the user, whose tokens all count together, or the API token; for frontend tokens and requests without a key, the network address
   */
  readonly id: string;
  readonly address: string;
  /** for a client without a secret: the group of such clients, which shares a part of the permits */
  readonly group?: keyof typeof shareOfClientGroup;
}

type Limits = Pick<
  HttpSettings,
  | 'GATEWAY_MAX_CONCURRENT_REQUESTS'
  | 'GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT'
  | 'GATEWAY_MAX_INCOMING_REQUESTS'
  | 'GATEWAY_MAX_INCOMING_REQUESTS_PER_CLIENT'
  | 'GATEWAY_MAX_INCOMING_REQUESTS_PER_ADDRESS'
>;

/** The stage of a request: its body is arriving, it is handled, or it counts no longer. */
interface Progress {
  stage: 'incoming' | 'handling' | 'done';
  client?: QuotaClient;
  /** the functions that release its permits: one of the server, and one of its client after authentication */
  readonly releases: (() => void)[];
}

function overloaded(): Refusal {
  return unavailable('Bunting is overloaded. Please try again.');
}
function tooMany(scope: string) {
  return (): Refusal =>
    refusal('RateLimitError', `There are too many requests ${scope}. Please wait for some of them to end.`, {
      retryAfterSeconds: 1,
    });
}

/** The key under which the requests of all clients are counted. */
const allClients = 'all clients';
/**
 * The share of the permits for all clients of a group, so that they cannot lock out other clients: frontend tokens are published with
 * pages, and anyone can send requests without a key.
 */
const shareOfClientGroup = { 'frontend tokens': 1 / 2, 'requests without a key': 1 / 4 } as const;

function hasBody({ raw: { headers } }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Limits the concurrent requests of operations: those whose body is arriving, and those that are handled. A request counts among the
 * handled ones only once its body has arrived, so that slow senders compete for permits with slow senders only. Own code instead of
 * @fastify/under-pressure, which sheds load by event loop delay and knows no quota per client (docs/security.md, Limits).
 */
export function concurrentRequestLimits(config: Limits) {
  const limits = { incoming: concurrencyLimit(), handling: concurrencyLimit() };
  const totals = { incoming: config.GATEWAY_MAX_INCOMING_REQUESTS, handling: config.GATEWAY_MAX_CONCURRENT_REQUESTS };
  /** Entries are deleted: minor garbage collections keep the values of a WeakMap, and here a value holds its request and response. */
  const requests = new WeakMap<FastifyRequest, Progress>();

  const serverQuota = (stage: 'incoming' | 'handling'): Quota => ({
    key: allClients,
    limit: totals[stage],
    refuse: overloaded,
  });
  const clientQuotas = (stage: 'incoming' | 'handling', { id, address, group }: QuotaClient): Quota[] => {
    const perClient =
      stage === 'incoming'
        ? config.GATEWAY_MAX_INCOMING_REQUESTS_PER_CLIENT
        : config.GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT;
    const perKey = { key: `client ${id}`, limit: perClient, refuse: tooMany('of this key at the same time') };
    const perAddress = {
      key: `address ${address}`,
      limit: config.GATEWAY_MAX_INCOMING_REQUESTS_PER_ADDRESS,
      refuse: tooMany('from this address whose body has not arrived'),
    };
    const quotasOfClient = [perKey, ...(stage === 'incoming' ? [perAddress] : [])];
    if (group === undefined) return quotasOfClient;
    const limit = Math.max(1, Math.floor(totals[stage] * shareOfClientGroup[group]));
    return [...quotasOfClient, { key: group, limit, refuse: overloaded }];
  };
  const release = (progress: Progress): void => {
    for (const releasePermit of progress.releases.splice(0)) releasePermit();
  };

  return {
    /** Counts a request whose headers have arrived, until `responseSent` or the end of its connection. @throws Refusal at the limit */
    start: (request: FastifyRequest, reply: FastifyReply): void => {
      const stage = hasBody(request) ? 'incoming' : 'handling';
      const progress: Progress = { stage, releases: [limits[stage].acquire([serverQuota(stage)])] };
      requests.set(request, progress);
      reply.raw.once('close', () => {
        progress.stage = 'done';
        requests.delete(request);
        release(progress);
      });
    },
    /**
     * Counts a request without a body, whose client is authenticated before it is counted.
     * @returns a function that stops counting it
     * @throws Refusal when a limit is reached
     */
    acquire: (client: QuotaClient): (() => void) =>
      limits.handling.acquire([serverQuota('handling'), ...clientQuotas('handling', client)]),
    /** Counts the request under its client, too. @throws Refusal when the quota of the client is used up */
    assignClient: (request: FastifyRequest, client: QuotaClient): void => {
      const progress = requests.get(request);
      if (progress === undefined || progress.client !== undefined || progress.stage === 'done') return;
      progress.client = client;
      // A request whose body has already arrived needs no permit as an incoming one.
      if (progress.stage === 'incoming' && request.raw.complete) return;
      progress.releases.push(limits[progress.stage].acquire(clientQuotas(progress.stage, client)));
    },
    /** Moves a request from the incoming to the handled ones. @throws Refusal when the limit of these is reached */
    bodyReceived: (request: FastifyRequest): void => {
      const progress = requests.get(request);
      if (progress?.stage !== 'incoming') return;
      const { client } = progress;
      release(progress);
      progress.stage = 'handling';
      const quotasOfClient = client === undefined ? [] : clientQuotas('handling', client);
      progress.releases.push(limits.handling.acquire([serverQuota('handling'), ...quotasOfClient]));
    },
    /** Stops counting a request whose response is handed over for sending. */
    responseSent: (request: FastifyRequest): void => {
      const progress = requests.get(request);
      if (progress === undefined) return;
      progress.stage = 'done';
      release(progress);
    },
    /** The client that the request is counted under; undefined before authentication. */
    clientOf: (request: FastifyRequest): QuotaClient | undefined => requests.get(request)?.client,
    /** @throws Error with the reason when no further request would be accepted now */
    requireCapacity: (): void => {
      if (limits.handling.inUse(allClients) >= totals.handling)
        throw new Error('The gateway handles as many requests as GATEWAY_MAX_CONCURRENT_REQUESTS allows.');
      if (limits.incoming.inUse(allClients) >= totals.incoming)
        throw new Error('The gateway receives as many requests as GATEWAY_MAX_INCOMING_REQUESTS allows.');
    },
  };
}
export type ConcurrentRequestLimits = ReturnType<typeof concurrentRequestLimits>;
