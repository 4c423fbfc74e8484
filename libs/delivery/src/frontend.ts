import {
  type Caller,
  EvaluateFrontendFeatures,
  type FrontendBody,
  type FrontendQuery,
  GetFrontendFeatures,
  notFound,
  truncate,
} from '@bunting/contracts';
import {
  contextFieldsOfBody,
  contextFieldsOfQuery,
  type EvaluationContext,
  frontendFeature,
} from '@bunting/evaluation';
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
import { deltaClientSpec, type ParsedSdkRequest, type SdkHandler, viewAfterCatchUp } from './sdk-handler.ts';
import type { Delivery } from './delivery.ts';
import { makeOnce } from './view/full-response.ts';
import { activeList, type EvaluationResult } from './view/result-cache.ts';

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

/** The context of a request: the environment that it names, and its fields once the environment is known. */
interface RequestedContext {
  readonly environment: string | undefined;
  readonly fieldsIn: (environment: string) => ReadonlyMap<string, string>;
}

function contextInQuery({ query }: ParsedSdkRequest): RequestedContext {
  const fields = query as FrontendQuery;
  return {
    environment: fields.environment,
    fieldsIn: (environment) => contextFieldsOfQuery(fields, environment),
  };
}

function contextInBody({ query, body }: ParsedSdkRequest): RequestedContext {
  const { callerAddress } = query as FrontendQuery;
  const requested = (body as FrontendBody).context?.['environment'];
  return {
    environment: typeof requested === 'string' ? requested : undefined,
    fieldsIn: (environment) => contextFieldsOfBody(body as FrontendBody, environment, callerAddress),
  };
}

/** The view of a caller, and the context in which its features are evaluated. */
function viewAndContext(delivery: Delivery) {
  const viewFor = viewAfterCatchUp(delivery);
  return async (response: FastifyReply, caller: Caller, { environment, fieldsIn }: RequestedContext) => {
    const query = environment === undefined ? {} : { environment };
    const { view } = await viewFor(GetFrontendFeatures, response, caller, { ...query, clientSpec: deltaClientSpec });
    const fields = fieldsIn(view.scope.environment);
    const context: EvaluationContext = { fields, now: new Date(), random: Math.random };
    return { view, context };
  };
}

/** How the operations of frontend SDKs send the context. */
const contextReaders = [
  [GetFrontendFeatures, contextInQuery],
  [EvaluateFrontendFeatures, contextInBody],
] as const;

/**
 * What Unleash Edge has besides, by the subject of the operation that takes the context in the same way: `all` responds with the features that
 * are off as well, `one` with the feature that the path names.
 */
export function edgeFrontendHandlers(delivery: Delivery) {
  const read = viewAndContext(delivery);
  const handlers = (respond: (parsed: ParsedSdkRequest, evaluated: Awaited<ReturnType<typeof read>>) => unknown) =>
    new Map<string, SdkHandler>(
      contextReaders.map(([{ subject }, contextOf]) => [
        subject,
        async (_request, response, parsed) => {
          const evaluated = await read(response, parsed.caller, contextOf(parsed));
          const body = JSON.stringify(respond(parsed, evaluated));
          return response.header('content-type', jsonContentType).send(body);
        },
      ]),
    );
  return {
    all: handlers((_, { view, context }) => ({
      toggles: delivery.evaluationOf(view).resolveAll(context).map(frontendFeature),
    })),
    one: handlers(({ params }, { view, context }) => {
      const { featureName } = params as { readonly featureName: string };
      const resolution = delivery.evaluationOf(view).resolve(featureName, context);
      if (resolution === undefined) throw notFound(`Could not find feature flag ${truncate(featureName, 200)}`);
      return frontendFeature(resolution);
    }),
  };
}

/** The operations of frontend SDKs, which are evaluated in the memory of this process, by subject. */
export function frontendHandlers(delivery: Delivery): ReadonlyMap<string, SdkHandler> {
  const read = viewAndContext(delivery);
  const evaluate = async (
    response: FastifyReply,
    caller: Caller,
    requested: RequestedContext,
  ): Promise<EvaluationResult> => {
    const { view, context } = await read(response, caller, requested);
    const evaluation = delivery.evaluationOf(view);
    return delivery.resultOf('frontend', evaluation, context, (observed) => activeList(evaluation, observed));
  };

  const evaluateByQuery: SdkHandler = async (request, response, parsed) => {
    const result = await evaluate(response, parsed.caller, contextInQuery(parsed));
    const { hash: tag } = result;
    response.header('etag', `"${tag}"`);
    requireCurrentTag(request.headers, tag);
    if (isNotModified(request.headers, tag)) return response.code(304).send();
    return sendResult(request, response, result);
  };

  const evaluateByBody: SdkHandler = async (request, response, parsed) =>
    sendResult(request, response, await evaluate(response, parsed.caller, contextInBody(parsed)));

  return new Map([
    [GetFrontendFeatures.subject, evaluateByQuery],
    [EvaluateFrontendFeatures.subject, evaluateByBody],
  ]);
}
