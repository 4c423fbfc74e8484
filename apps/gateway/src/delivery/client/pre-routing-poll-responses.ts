import { staleHeader } from '@bunting/contracts';
import type { IncomingMessage } from 'node:http';
import type { AdmitBeforeRouting } from '../../admission/admission.ts';
import type { Authenticator } from '../../admission/authenticator.ts';
import type { PreRoutingContent, PreRoutingResponse } from '../../http/pre-routing.ts';
import { acceptedEncoding, minCompressedLength } from '../../http/response/compression.ts';
import type { Delivery } from '../delivery.ts';
import type { SdkResponse } from './polls.ts';
import type { FetchModePolicy } from './fetch-mode-policy.ts';
import { isInCurrentEnvironment, parsedPollCache } from './pre-routed-polls.ts';

export interface PollOptions {
  readonly delivery: Delivery;
  readonly authenticateFromCache: Authenticator['authenticateFromCache'];
  readonly admitBeforeRouting: AdmitBeforeRouting;
  readonly directToStream: FetchModePolicy['directToStream'];
}

const contentOf = (
  { headers: request }: IncomingMessage,
  sdkResponse: SdkResponse,
  rateLimitHeaders: Readonly<Record<string, string>>,
  behindMs: number,
  directToStream: PollOptions['directToStream'],
): PreRoutingContent | undefined => {
  // A long body that is not compressed yet, though the client accepts it compressed, is left to the route, which compresses it.
  const isEncoded = sdkResponse.headers['content-encoding'] !== undefined;
  const isCompressible = !isEncoded && acceptedEncoding(request['accept-encoding']) !== 'identity';
  if (isCompressible && sdkResponse.body !== undefined && sdkResponse.body.length >= minCompressedLength)
    return undefined;
  const { status, headers, body } = directToStream(sdkResponse, request);
  const rawHeaders = Object.entries(headers).flat();
  for (const [name, value] of Object.entries(rateLimitHeaders)) rawHeaders.push(name, value);
  if (behindMs > 0) rawHeaders.push(staleHeader, String(behindMs));
  return { status, headers: rawHeaders, body };
};

/**
 * Responds to polls of SDKs before they are routed: ordinary GET requests with a cached token, whose response is in memory. All others are
 * routed, also those that are refused, so that only the routes decide on refusals.
 */
export const preRoutingPollResponses = ({
  delivery,
  authenticateFromCache,
  admitBeforeRouting,
  directToStream,
}: PollOptions) => {
  const pollOf = parsedPollCache(delivery.store);

  /** The response to an admitted request; undefined where the request has to be routed. */
  return (request: IncomingMessage): PreRoutingResponse | undefined => {
    const { method, url = '', headers } = request;
    if (method !== 'GET' || !url.startsWith('/api/client/') || !delivery.isLoaded) return undefined;
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return undefined;
    const principal = authenticateFromCache(headers.authorization);
    const poll = principal === undefined ? undefined : pollOf(request, principal);
    const admitted = principal === undefined || poll === undefined ? undefined : admitBeforeRouting(principal);
    if (principal === undefined || poll === undefined || admitted === undefined) return undefined;
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
        const response = pollOperation.respond(view, { headers, params: poll.params }, behindMs > 0);
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
};
