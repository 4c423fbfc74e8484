import { type Caller, type ClientFeaturesQuery, type DeliveryScope, scopeKey } from '@bunting/contracts';
import type { IncomingMessage } from 'node:http';
import type { Principal } from '../../domain/principal.ts';
import { queryAndHeadersParser } from '../../http/request/request.ts';
import { authorisedScopeOf } from '../sdk-handler.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import { type PollOperation, pollOperations } from './polls.ts';

type Store = Pick<DeliveryStore, 'environmentOf'>;

/** A path of an SDK's operation, and how its query is read. */
interface PollRoute {
  readonly url: string;
  readonly pollOperation: PollOperation;
  readonly parseQuery: ReturnType<typeof queryAndHeadersParser>;
}

/** The parsed URL and headers of a poll; cached, because an SDK sends the same ones with each poll. */
export interface ParsedPoll {
  readonly route: PollRoute;
  readonly params: unknown;
  readonly query: ClientFeaturesQuery;
  readonly scope: DeliveryScope;
  /** the key of the scope, under which its view is cached */
  readonly key: string;
}

/** Maximum number of cached polls per token; SDKs of one token mostly send the same one. */
const maxPollsPerToken = 8;
const maxCachedUrlLength = 256;
/** A name of a feature that percent-decoding does not change. */
const plainName = /^[\w.~-]{1,200}$/;

const oneFeaturePrefix = '/api/client/features/';

/** by path */
const routes: ReadonlyMap<string, PollRoute> = new Map(
  [...pollOperations.values()].flatMap((pollOperation): readonly [string, PollRoute][] => {
    const { http, query } = pollOperation.operation;
    if (http === undefined) return [];
    return [[http.url, { url: http.url, pollOperation, parseQuery: queryAndHeadersParser(query, http) }]];
  }),
);

const routeOf = (path: string): { readonly route: PollRoute; readonly params: unknown } | undefined => {
  const route = routes.get(path);
  if (route !== undefined) return { route, params: {} };
  const featureName = path.startsWith(oneFeaturePrefix) ? path.slice(oneFeaturePrefix.length) : '';
  const routeOfOne = plainName.test(featureName) ? routes.get(`${oneFeaturePrefix}:featureName`) : undefined;
  return routeOfOne === undefined ? undefined : { route: routeOfOne, params: { featureName } };
};

/** Undefined for a path that is no poll. @throws Refusal for a query that does not fit the contract, or without access */
const parsePoll = (store: Store, url: string, request: IncomingMessage, caller: Caller): ParsedPoll | undefined => {
  const queryIndex = url.indexOf('?');
  const routed = routeOf(queryIndex < 0 ? url : url.slice(0, queryIndex));
  if (routed === undefined) return undefined;
  const search = queryIndex < 0 ? '' : url.slice(queryIndex + 1);
  const query = routed.route.parseQuery({
    headers: request.headers,
    query: { search },
    ip: '',
  }) as ClientFeaturesQuery;
  const { operation, queryOf } = routed.route.pollOperation;
  const scope = authorisedScopeOf(store, operation, caller, queryOf(query));
  return { ...routed, query, scope, key: scopeKey(scope) };
};

/** Whether the environment of a poll is still that of its request: it depends on which environments exist. */
export const isInCurrentEnvironment = ({ query, scope }: ParsedPoll, caller: Caller, store: Store): boolean =>
  store.environmentOf(caller, query.environment) === scope.environment;

/**
 * Returns the poll that a request is, from a cache by token or parsed; undefined where it has to be routed: its route also refuses it, if
 * it must be refused.
 */
export const parsedPollCache = (store: Store) => {
  const polls = new WeakMap<Principal, Map<string, ParsedPoll>>();

  return (request: IncomingMessage, principal: Principal): ParsedPoll | undefined => {
    const { url = '', headers } = request;
    const spec = headers['unleash-client-spec'];
    const key = `${String(spec)} ${url}`;
    let pollsOfToken = polls.get(principal);
    if (pollsOfToken === undefined) polls.set(principal, (pollsOfToken = new Map<string, ParsedPoll>()));
    const cached = pollsOfToken.get(key);
    if (cached !== undefined) {
      if (isInCurrentEnvironment(cached, principal.caller, store)) return cached;
      pollsOfToken.clear();
    }
    let poll: ParsedPoll | undefined;
    try {
      poll = parsePoll(store, url, request, principal.caller);
    } catch {
      return undefined;
    }
    if (poll === undefined || key.length > maxCachedUrlLength) return poll;
    if (pollsOfToken.size >= maxPollsPerToken) pollsOfToken.clear();
    pollsOfToken.set(key, poll);
    return poll;
  };
};
