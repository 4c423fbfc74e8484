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
import type { FastifyReply } from 'fastify';
import { entityTagOf, isNotModified, requireCurrentTag } from '../http/response/entity-tags.ts';
import { jsonContentType } from '../http/errors.ts';
import { type SdkHandler, deltaClientSpec, viewAfterCatchUp } from './sdk-handler.ts';
import type { Delivery } from './delivery.ts';

interface FeatureText {
  readonly json: string;
  readonly hash: string;
}

function bodyOf(features: readonly FeatureText[]): string {
  return `{"toggles":[${features.map(({ json }) => json).join(',')}]}`;
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
  ): Promise<readonly FeatureText[]> => {
    const query = environment === undefined ? {} : { environment };
    const { view } = await viewFor(GetFrontendFeatures, response, caller, { ...query, clientSpec: deltaClientSpec });
    const fields = contextFieldsFor(view.scope.environment);
    const context = { fields, now: new Date(), random: Math.random };
    return delivery
      .evaluationOf(view)
      .active(context)
      .map(({ feature, variant }) => textOf(feature, variant));
  };

  const evaluateByQuery: SdkHandler = async (request, response, parsed) => {
    const query = parsed.query as FrontendQuery;
    const activeFeatures = await evaluate(response, parsed.caller, query.environment, (environment) =>
      contextFieldsOfQuery(query, environment),
    );
    const tag = entityTagOf(activeFeatures.map(({ hash }) => hash).join(), undefined);
    response.header('etag', `"${tag}"`);
    requireCurrentTag(request.headers, tag);
    if (isNotModified(request.headers, tag)) return response.code(304).send();
    return response.header('content-type', jsonContentType).send(bodyOf(activeFeatures));
  };

  const evaluateByBody: SdkHandler = async (_, response, { caller, query, body }) => {
    const { context } = body as FrontendBody;
    const { callerAddress } = query as FrontendQuery;
    const requested = context?.['environment'];
    const requestedEnvironment = typeof requested === 'string' ? requested : undefined;
    const activeFeatures = await evaluate(response, caller, requestedEnvironment, (environment) =>
      contextFieldsOfBody(body as FrontendBody, environment, callerAddress),
    );
    return response.header('content-type', jsonContentType).send(bodyOf(activeFeatures));
  };

  return new Map([
    [GetFrontendFeatures.subject, evaluateByQuery],
    [EvaluateFrontendFeatures.subject, evaluateByBody],
  ]);
}
