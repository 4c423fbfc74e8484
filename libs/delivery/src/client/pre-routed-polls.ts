import type { IncomingMessage } from 'node:http';
import {
  type Caller,
  type ClientFeaturesQuery,
  type DeliveryScope,
  scopeKey,
  segmentListsHeader,
  staleHeader,
} from '@bunting/contracts';
import {
  acceptedEncoding,
  type AdmitBeforeRouting,
  minCompressedLength,
  type PreRoutingContent,
  type PreRoutingResponse,
  type Principal,
  queryAndHeadersParser,
} from '@bunting/http';
import type { Delivery } from '../delivery.ts';
import { authorisedScopeOf } from '../sdk-handler.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import { type FetchModePolicy, type PollOperation, pollOperations, type SdkResponse } from './polls.ts';

type Store = Pick<DeliveryStore, 'environmentOf'>;

/** A path of an SDK's operation, and how its query is read. */
interface PollRoute {
  readonly url: string;
  readonly pollOperation: PollOperation;
  readonly parseQuery: ReturnType<typeof queryAndHeadersParser>;
}

/** The parsed URL and headers of a poll; cached, because an SDK sends the same ones with each poll. */
interface ParsedPoll {
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
const listsHeader = segmentListsHeader.toLowerCase();
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

function routeOf(path: string): { readonly route: PollRoute; readonly params: unknown } | undefined {
  const route = routes.get(path);
  if (route !== undefined) return { route, params: {} };
  const featureName = path.startsWith(oneFeaturePrefix) ? path.slice(oneFeaturePrefix.length) : '';
  const routeOfOne = plainName.test(featureName) ? routes.get(`${oneFeaturePrefix}:featureName`) : undefined;
  return routeOfOne === undefined ? undefined : { route: routeOfOne, params: { featureName } };
}

/** Undefined for a path that is no poll. @throws Refusal for a query that does not fit the contract, or without access */
function parsePoll(store: Store, url: string, request: IncomingMessage, caller: Caller): ParsedPoll | undefined {
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
}

/** Whether the environment of a poll is still that of its request: it depends on which environments exist. */
function isInCurrentEnvironment({ query, scope }: ParsedPoll, caller: Caller, store: Store): boolean {
  return store.environmentOf(caller, query.environment) === scope.environment;
}

/**
 * Returns the poll that a request is, from a cache by token or parsed; undefined where it has to be routed: its route also refuses it, if
 * it must be refused.
 */
function parsedPollCache() {
  const polls = new WeakMap<Principal, Map<string, ParsedPoll>>();

  return (request: IncomingMessage, principal: Principal, store: Store): ParsedPoll | undefined => {
    const { url = '', headers } = request;
    const spec = headers['unleash-client-spec'];
    const lists = headers[listsHeader];
    const key = `${String(spec)} ${String(lists)} ${url}`;
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
}

export interface PollOptions {
  /** the delivery to a caller; undefined where there is none */
  readonly deliveryTo: (principal: Principal) => Delivery | undefined;
  /** the principal of an `Authorization` header, if that is known without waiting */
  readonly authenticateFromCache: (authorization: string | undefined) => Principal | undefined;
  readonly admitBeforeRouting: AdmitBeforeRouting;
  readonly directToStream: FetchModePolicy['directToStream'];
}

function contentOf(
  { headers: request }: IncomingMessage,
  sdkResponse: SdkResponse,
  rateLimitHeaders: Readonly<Record<string, string>>,
  behindMs: number,
  directToStream: PollOptions['directToStream'],
): PreRoutingContent | undefined {
  // A long body that is not compressed yet, though the client accepts it compressed, is left to the route, which compresses it.
  const isEncoded = sdkResponse.headers['content-encoding'] !== undefined;
  const isCompressible = !isEncoded && acceptedEncoding(request['accept-encoding']) !== 'identity';
  if (isCompressible && sdkResponse.body !== undefined && sdkResponse.body.length >= minCompressedLength)
    return undefined;
  const { status, headers, body } = directToStream(sdkResponse, request);
  const rawHeaders: string[] = [];
  for (const [name, value] of Object.entries(headers)) rawHeaders.push(name, value);
  for (const [name, value] of Object.entries(rateLimitHeaders)) rawHeaders.push(name, value);
  if (behindMs > 0) rawHeaders.push(staleHeader, String(behindMs));
  return { status, headers: rawHeaders, body };
}

/**
 * Responds to polls of SDKs before they are routed: ordinary GET requests with a cached token, whose response is in memory. All others are
 * routed, also those that are refused, so that only the routes decide on refusals.
 */
export function preRoutingPollResponses({
  deliveryTo,
  authenticateFromCache,
  admitBeforeRouting,
  directToStream,
}: PollOptions) {
  const pollOf = parsedPollCache();

  /** The response to an admitted request; undefined where the request has to be routed. */
  return (request: IncomingMessage): PreRoutingResponse | undefined => {
    const { method, url = '', headers } = request;
    if (method !== 'GET' || !url.startsWith('/api/client/')) return undefined;
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return undefined;
    const principal = authenticateFromCache(headers.authorization);
    const delivery = principal === undefined ? undefined : deliveryTo(principal);
    if (principal === undefined || delivery?.isLoaded !== true) return undefined;
    const poll = pollOf(request, principal, delivery.store);
    const admitted = poll === undefined ? undefined : admitBeforeRouting(principal);
    if (poll === undefined || admitted === undefined) return undefined;
    const { client, release, refund } = admitted;
    const { pollOperation, url: route } = poll.route;
    /** Leaves the request to its route, which admits it again. An error that occurred here recurs in the route, which reports it. */
    const leaveToRoute = (): undefined => void refund();
    const respond = (behindMs: number): PreRoutingContent | undefined | Promise<PreRoutingContent | undefined> => {
      const contentOrRoute = (response: SdkResponse) =>
        contentOf(request, response, admitted.headers, behindMs, directToStream) ?? leaveToRoute();
      try {
        if (!delivery.isLoaded || !isInCurrentEnvironment(poll, principal.caller, delivery.store))
          return leaveToRoute();
        const view = delivery.viewOf(poll.scope, poll.key);
        const response = pollOperation.respond(
          view,
          { headers, params: poll.params },
          delivery.laterRevisions(behindMs),
        );
        return response instanceof Promise
          ? response.then(contentOrRoute).catch(leaveToRoute)
          : contentOrRoute(response);
      } catch {
        return leaveToRoute();
      }
    };
    const staleness = delivery.catchUp();
    const content = typeof staleness === 'number' ? respond(staleness) : staleness.then(respond);
    return { route, callerId: principal.caller.id, clientKey: client.id, content, release };
  };
}
