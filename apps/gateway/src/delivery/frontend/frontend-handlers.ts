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
import { entityTagOf, isNotModified, requireIfMatch } from '../../http/response/entity-tags.ts';
import { jsonContentType } from '../../http/errors/http-errors.ts';
import { type SdkHandler, deltaClientSpec, freshView } from '../sdk-handler.ts';
import type { Delivery } from '../delivery.ts';

interface FeatureText {
  readonly json: string;
  readonly hash: string;
}

const bodyOf = (on: readonly FeatureText[]): string => `{"toggles":[${on.map(({ json }) => json).join(',')}]}`;

/** The operations of frontend SDKs, which are evaluated in the memory of this process, by subject. */
export const frontendHandlers = (delivery: Delivery): ReadonlyMap<string, SdkHandler> => {
  const viewFor = freshView(delivery);
  /** by feature and variant: its JSON text, and a hash of it, so that the tag of a response is not a hash of all its bytes */
  const texts = new WeakMap<EvaluableFeature, Map<Variant, FeatureText>>();

  const textOf = (feature: EvaluableFeature, variant: Variant): FeatureText => {
    let ofFeature = texts.get(feature);
    if (ofFeature === undefined) texts.set(feature, (ofFeature = new Map()));
    let text = ofFeature.get(variant);
    if (text === undefined) {
      const json = JSON.stringify(frontendFeature({ feature, variant }));
      ofFeature.set(variant, (text = { json, hash: entityTagOf(json, undefined) }));
    }
    return text;
  };

  const evaluate = async (
    response: FastifyReply,
    caller: Caller,
    environment: string | undefined,
    fieldsIn: (environment: string) => ReadonlyMap<string, string>,
  ): Promise<readonly FeatureText[]> => {
    const query = environment === undefined ? {} : { environment };
    const { view } = await viewFor(GetFrontendFeatures, response, caller, { ...query, clientSpec: deltaClientSpec });
    const fields = fieldsIn(view.scope.environment);
    const context = { fields, now: new Date(), random: Math.random };
    return delivery
      .evaluationOf(view)
      .active(context)
      .map(({ feature, variant }) => textOf(feature, variant));
  };

  const byQuery: SdkHandler = async (request, response, parsed) => {
    const query = parsed.query as FrontendQuery;
    const on = await evaluate(response, parsed.caller, query.environment, (environment) =>
      contextFieldsOfQuery(query, environment),
    );
    const tag = entityTagOf(on.map(({ hash }) => hash).join(), undefined);
    response.header('etag', `"${tag}"`);
    requireIfMatch(request.headers, tag);
    if (isNotModified(request.headers, tag)) return response.code(304).send();
    return response.header('content-type', jsonContentType).send(bodyOf(on));
  };

  const byBody: SdkHandler = async (_, response, { caller, query, body }) => {
    const { context } = body as FrontendBody;
    const { callerAddress } = query as FrontendQuery;
    const named = context?.['environment'];
    const on = await evaluate(response, caller, typeof named === 'string' ? named : undefined, (environment) =>
      contextFieldsOfBody(body as FrontendBody, environment, callerAddress),
    );
    return response.header('content-type', jsonContentType).send(bodyOf(on));
  };

  return new Map([
    [GetFrontendFeatures.subject, byQuery],
    [EvaluateFrontendFeatures.subject, byBody],
  ]);
};
