import type { ClientFeaturesQuery } from '@bunting/contracts';
import { addVary } from '../../http/errors.ts';
import type { Delivery } from '../delivery.ts';
import { type SdkHandler, viewAfterCatchUp } from '../sdk-handler.ts';
import type { FetchModePolicy } from './fetch-mode-policy.ts';
import { type PollOperation, pollOperations } from './polls.ts';

/** The handlers of routed requests of server SDKs, by subject. */
export const featurePollHandlers = (
  delivery: Delivery,
  directToStream: FetchModePolicy['directToStream'],
): ReadonlyMap<string, SdkHandler> => {
  const viewFor = viewAfterCatchUp(delivery);
  const handlerOf =
    (pollOperation: PollOperation): SdkHandler =>
    async ({ headers }, response, { caller, params, query }) => {
      const { operation, queryOf, respond } = pollOperation;
      const { view, isBehind } = await viewFor(operation, response, caller, queryOf(query as ClientFeaturesQuery));
      const {
        status,
        headers: responseHeaders,
        body,
      } = directToStream(await respond(view, { headers, params }, isBehind), headers);
      const { vary, ...otherHeaders } = responseHeaders;
      if (vary !== undefined) addVary(response, vary);
      return response.code(status).headers(otherHeaders).send(body);
    };
  return new Map([...pollOperations].map(([subject, pollOperation]) => [subject, handlerOf(pollOperation)]));
};
