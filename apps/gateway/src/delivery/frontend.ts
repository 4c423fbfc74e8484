import {
  type Caller,
  EvaluateFrontendFeatures,
  type FrontendBody,
  type FrontendQuery,
  GetFrontendFeatures,
} from '@bunting/contracts';
import {
  contextFieldsOfBody,
  contextFieldsOfQuery,
  type EvaluableFeature,
  frontendFeature,
  type Variant,
} from '@bunting/evaluation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addVary, jsonContentType } from '../http/errors.ts';
import { acceptedEncoding, compress, minCompressedLength, setEncoding } from '../http/response/compression.ts';
import { entityTagOf, isNotModified, requireCurrentTag } from '../http/response/entity-tags.ts';
import { type SdkHandler, deltaClientSpec, viewAfterCatchUp } from './sdk-handler.ts';
import type { Delivery } from './delivery.ts';
import { makeOnce } from './view/full-response.ts';
import type { EvaluationResult } from './view/result-cache.ts';

interface FeatureText {
  readonly json: string;
  readonly hash: string;
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
  /**
   * by feature and variant: the JSON text, and a hash of it, so that the tag of a response is made of these without hashing all its bytes
   */
  const texts = new WeakMap<EvaluableFeature, Map<Variant, FeatureText>>();

  const textOf = (feature: EvaluableFeature, variant: Variant): FeatureText => {
    let textsOfFeature = texts.get(feature);
    if (textsOfFeature === undefined) texts.set(feature, (textsOfFeature = new Map()));
    let text = textsOfFeature.get(variant);
    if (text === undefined) {
      const json = JSON.stringify(frontendFeature({ feature, variant }));
      textsOfFeature.set(variant, (text = { json, hash: entityTagOf(json, undefined) }));
    }
    return text;
  };

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
    return delivery.resultOf('frontend', evaluation, { fields, now: new Date(), random: Math.random }, (context) => {
      const active = evaluation.active(context).map(({ feature, variant }) => textOf(feature, variant));
      return {
        json: Buffer.from(`{"toggles":[${active.map(({ json }) => json).join(',')}]}`),
        hash: entityTagOf(active.map(({ hash }) => hash).join(), undefined),
      };
    });
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
