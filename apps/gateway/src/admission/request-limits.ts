import { refusal, type Refusal, unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { concurrencyLimit, type Quota } from './concurrency-limit.ts';
import type { GatewayConfig } from '../config.ts';

/** What limits count a request for, once its key is known. */
export interface Client {
  /** the user with all keys, the API token, or for frontend keys the address, because everybody has those keys */
  readonly id: string;
  readonly address: string;
  /** whether the key is one that is published: a frontend key */
  readonly isPublic: boolean;
}

export interface RequestLimits {
  /** Takes a place for a request of which the headers have arrived. @throws Refusal when there is none */
  start(request: FastifyRequest, reply: FastifyReply): void;
  /** Counts the request for its client, too. @throws Refusal when the client has used up its share */
  assignClient(request: FastifyRequest, client: Client): void;
  /** Moves the request from those that arrive to those that are answered. @throws Refusal when there is no place among these */
  bodyReceived(request: FastifyRequest): void;
  /** Releases the place of a request whose answer is handed over for sending. */
  responseSent(request: FastifyRequest): void;
  /** Who the request is counted for; undefined before its key is known. */
  clientOf(request: FastifyRequest): Client | undefined;
  /** @throws Error with the reason why no further request is taken now */
  requireCapacity(): void;
}

type Limits = Pick<
  GatewayConfig,
  | 'GATEWAY_MAX_CONCURRENT_REQUESTS'
  | 'GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT'
  | 'GATEWAY_MAX_INCOMING_REQUESTS'
  | 'GATEWAY_MAX_INCOMING_REQUESTS_PER_CLIENT'
  | 'GATEWAY_MAX_INCOMING_REQUESTS_PER_ADDRESS'
>;

/** The stage that a request is in, and its places there: one from its beginning, one more once its client is known. */
interface Progress {
  stage: 'arriving' | 'answering' | 'answered';
  client?: Client;
  readonly release: (() => void)[];
}

const busy = (): Refusal => unavailable('Bunting has more to do than it can take on now. Please try again.');
const tooMany = (what: string) => (): Refusal =>
  refusal('RateLimitError', `There are too many requests ${what}. Please wait for some of them to end.`, {
    retryAfterSeconds: 1,
  });

const everyone = 'everyone';
/** Frontend keys are published: together they hold no more than half of the places, and so keep no other key out. */
const publicKeys = 'frontend keys';

const hasBody = ({ raw: { headers } }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Limits how many requests below /api arrive and how many are answered at the same time. A request takes a place among those that are
 * answered only once its body has arrived, so that clients that send slowly keep out nobody but their like.
 */
export const requestLimits = (config: Limits): RequestLimits => {
  const limits = { arriving: concurrencyLimit(), answering: concurrencyLimit() };
  const totals = { arriving: config.GATEWAY_MAX_INCOMING_REQUESTS, answering: config.GATEWAY_MAX_CONCURRENT_REQUESTS };
  const requests = new WeakMap<FastifyRequest, Progress>();

  const total = (stage: 'arriving' | 'answering'): Quota => ({ holder: everyone, limit: totals[stage], refuse: busy });
  const shares = (stage: 'arriving' | 'answering', { id, address, isPublic }: Client): Quota[] => {
    const ofPublicKeys = { holder: publicKeys, limit: Math.max(1, Math.floor(totals[stage] / 2)), refuse: busy };
    const perClient =
      stage === 'arriving'
        ? config.GATEWAY_MAX_INCOMING_REQUESTS_PER_CLIENT
        : config.GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT;
    const ofClient = { holder: `client ${id}`, limit: perClient, refuse: tooMany('of this key at the same time') };
    const ofAddress = {
      holder: `address ${address}`,
      limit: config.GATEWAY_MAX_INCOMING_REQUESTS_PER_ADDRESS,
      refuse: tooMany('from this address whose body has not arrived'),
    };
    return [ofClient, ...(stage === 'arriving' ? [ofAddress] : []), ...(isPublic ? [ofPublicKeys] : [])];
  };
  const release = (progress: Progress): void => {
    for (const one of progress.release.splice(0)) one();
  };

  return {
    start: (request, reply) => {
      const stage = hasBody(request) ? 'arriving' : 'answering';
      const progress: Progress = { stage, release: [limits[stage].acquire([total(stage)])] };
      requests.set(request, progress);
      reply.raw.once('close', () => {
        progress.stage = 'answered';
        release(progress);
      });
    },
    assignClient: (request, client) => {
      const progress = requests.get(request);
      if (progress === undefined || progress.client !== undefined || progress.stage === 'answered') return;
      progress.client = client;
      // What is here already needs no share of what arrives.
      if (progress.stage === 'arriving' && request.raw.complete) return;
      progress.release.push(limits[progress.stage].acquire(shares(progress.stage, client)));
    },
    bodyReceived: (request) => {
      const progress = requests.get(request);
      if (progress?.stage !== 'arriving') return;
      const { client } = progress;
      release(progress);
      progress.stage = 'answering';
      const ofClient = client === undefined ? [] : shares('answering', client);
      progress.release.push(limits.answering.acquire([total('answering'), ...ofClient]));
    },
    responseSent: (request) => {
      const progress = requests.get(request);
      if (progress === undefined) return;
      progress.stage = 'answered';
      release(progress);
    },
    clientOf: (request) => requests.get(request)?.client,
    requireCapacity: () => {
      if (limits.answering.inUse(everyone) >= totals.answering)
        throw new Error('As many requests are being answered as GATEWAY_MAX_CONCURRENT_REQUESTS allows.');
      if (limits.arriving.inUse(everyone) >= totals.arriving)
        throw new Error('As many requests are arriving as GATEWAY_MAX_INCOMING_REQUESTS allows.');
    },
  };
};
