import {
  type Caller,
  EvaluateFrontendFeatures,
  type FrontendBody,
  type FrontendQuery,
  GetFrontendFeatures,
} from '@bunting/contracts';
import { type ActiveFeature, contextFieldsOfBody, contextFieldsOfQuery, frontendFeature } from '@bunting/evaluation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  acceptedEncoding,
  addVary,
  compress,
  isNotModified,
  jsonContentType,
  minCompressedLength,
  requireCurrentTag,
  setEncoding,
} from '@bunting/http';
import { type SdkHandler, deltaClientSpec, viewAfterCatchUp } from './sdk-handler.ts';
import type { Delivery } from './delivery.ts';
import { makeOnce } from './view/full-response.ts';
import { type EvaluationResult, listOfItems, type RenderedItem, renderItem } from './view/result-cache.ts';

/** What browsers get of a feature that is on. */
function render(active: ActiveFeature): RenderedItem {
  return (active.derived ??= renderItem(JSON.stringify(frontendFeature(active)))) as RenderedItem;
}

/** Sends the JSON of a result in the encoding that the client takes. */
async function sendResult(request: FastifyRequest, response: FastifyReply, result: EvaluationResult) {
  response.header('content-type', jsonContentType);
  const { json, encoded } = result;
  const encoding =
    json.length < minCompressedLength ? 'identity' : acceptedEncoding(request.headers['accept-encoding']);
  // Shorter ones are the same for all clients; the server does the rest of those that are sent as they are.
  if (encoding === 'identity') return response.send(json);
  const body = await makeOnce(encoded, encoding, () => compress(json, encoding));
  addVary(response, 'Accept-Encoding');
  setEncoding(response, encoding);
  return response.send(body);
}

/** The operations of frontend SDKs, which are evaluated in the memory of this process, by subject. */
export function frontendHandlers(delivery: Delivery): ReadonlyMap<string, SdkHandler> {
  const viewFor = viewAfterCatchUp(delivery);
  const evaluate = async (
    response: FastifyReply,
    caller: Caller,
    environment: string | undefined,
    contextFieldsFor: (environment: string) => ReadonlyMap<string, string>,
  ): Promise<EvaluationResult> => {
    const query = environment === undefined ? {} : { environment };
    const { view } = await viewFor(GetFrontendFeatures, response, caller, { ...query, clientSpec: deltaClientSpec });
    const fields = contextFieldsFor(view.scope.environment);
    const evaluation = delivery.evaluationOf(view);
    return delivery.resultOf('frontend', evaluation, { fields, now: new Date(), random: Math.random }, (context) =>
      listOfItems('{"toggles":[', evaluation.active(context).map(render), ']}'),
    );
  };

  const evaluateByQuery: SdkHandler = async (request, response, parsed) => {
    const query = parsed.query as FrontendQuery;
    const result = await evaluate(response, parsed.caller, query.environment, (environment) =>
      contextFieldsOfQuery(query, environment),
    );
    const { hash: tag } = result;
    response.header('etag', `"${tag}"`);
    requireCurrentTag(request.headers, tag);
    if (isNotModified(request.headers, tag)) return response.code(304).send();
    return sendResult(request, response, result);
  };

  const evaluateByBody: SdkHandler = async (request, response, { caller, query, body }) => {
    const { context } = body as FrontendBody;
    const { callerAddress } = query as FrontendQuery;
    const requested = context?.['environment'];
    const requestedEnvironment = typeof requested === 'string' ? requested : undefined;
    const result = await evaluate(response, caller, requestedEnvironment, (environment) =>
      contextFieldsOfBody(body as FrontendBody, environment, callerAddress),
    );
    return sendResult(request, response, result);
  };

  return new Map([
    [GetFrontendFeatures.subject, evaluateByQuery],
    [EvaluateFrontendFeatures.subject, evaluateByBody],
  ]);
}
