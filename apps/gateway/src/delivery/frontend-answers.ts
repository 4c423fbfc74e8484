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
  type EvaluatedFeature,
  frontendFeature,
  type Variant,
} from '@bunting/evaluation';
import type { FastifyReply } from 'fastify';
import { entityTagOf, isNotModified } from '../http/entity-tags.ts';
import { jsonContentType } from '../http/http-errors.ts';
import { type ClientAnswer, deltaClientSpec, freshView } from './client-answers.ts';
import type { Delivery } from './delivery.ts';

/** The operations of frontend SDKs, which are evaluated in the memory of this process, by subject. */
export const frontendAnswers = (delivery: Delivery): ReadonlyMap<string, ClientAnswer> => {
  const viewFor = freshView(delivery);
  /** by feature and variant, as JSON text */
  const texts = new WeakMap<EvaluatedFeature, Map<Variant, string>>();

  const textOf = (feature: EvaluatedFeature, variant: Variant): string => {
    let ofFeature = texts.get(feature);
    if (ofFeature === undefined) texts.set(feature, (ofFeature = new Map()));
    let text = ofFeature.get(variant);
    if (text === undefined) ofFeature.set(variant, (text = JSON.stringify(frontendFeature({ feature, variant }))));
    return text;
  };

  const evaluate = async (
    response: FastifyReply,
    caller: Caller,
    environment: string | undefined,
    fieldsIn: (environment: string) => ReadonlyMap<string, string>,
  ): Promise<string> => {
    const query = environment === undefined ? {} : { environment };
    const { view } = await viewFor(GetFrontendFeatures, response, caller, { ...query, clientSpec: deltaClientSpec });
    const fields = fieldsIn(view.scope.environment);
    const context = { fields, now: new Date(), random: Math.random };
    const toggles = delivery
      .evaluationOf(view)
      .active(context)
      .map(({ feature, variant }) => textOf(feature, variant));
    return `{"toggles":[${toggles.join(',')}]}`;
  };

  const byQuery: ClientAnswer = async (request, response, parsed) => {
    const query = parsed.query as FrontendQuery;
    const json = await evaluate(response, parsed.caller, query.environment, (environment) =>
      contextFieldsOfQuery(query, environment),
    );
    const tag = entityTagOf(json, undefined);
    response.header('etag', `"${tag}"`);
    if (isNotModified(request.headers, tag)) return response.code(304).send();
    return response.header('content-type', jsonContentType).send(json);
  };

  const byBody: ClientAnswer = async (_, response, { caller, query, body }) => {
    const { context } = body as FrontendBody;
    const { callerAddress } = query as FrontendQuery;
    const named = context?.['environment'];
    const json = await evaluate(response, caller, typeof named === 'string' ? named : undefined, (environment) =>
      contextFieldsOfBody(body as FrontendBody, environment, callerAddress),
    );
    return response.header('content-type', jsonContentType).send(json);
  };

  return new Map([
    [GetFrontendFeatures.subject, byQuery],
    [EvaluateFrontendFeatures.subject, byBody],
  ]);
};
