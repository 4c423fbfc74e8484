import type { OfrepErrorCode, OfrepEvaluation, OfrepEvaluationBody, OfrepFailure } from '@bunting/contracts';
import { contextFieldsOfBody } from './frontend-api.ts';
import { hasPayloads, type Resolution } from './resolution.ts';
import type { Variant } from './variant.ts';

/** The evaluation of a feature in the form of the OpenFeature Remote Evaluation Protocol, or the reason for which it failed. */
export type OfrepResult = OfrepEvaluation | OfrepFailure;

export function isOfrepFailure(result: OfrepResult): result is OfrepFailure {
  return 'errorCode' in result;
}

function failure(key: string, errorCode: OfrepErrorCode, errorDetails: string): OfrepFailure {
  return {
    key,
    errorCode,
    errorDetails,
  };
}

/** A payload by its type. @throws SyntaxError for one that is not of its type */
function payloadValue({ type, value }: NonNullable<Variant['payload']>): unknown {
  if (type === 'json') return JSON.parse(value) as unknown;
  if (type !== 'number') return value;
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) throw new SyntaxError('it is not a number');
  return number;
}

/** The result of a feature for a user: a payload where its variants have any, else whether it is on. */
export function ofrepResult({ feature, enabled, variant, reason, needsTargetingKey }: Resolution): OfrepResult {
  const { name: key, impressionData = false } = feature;
  if (needsTargetingKey) {
    return failure(
      key,
      'TARGETING_KEY_MISSING',
      `The feature ${key} is on for a share of the users: set \`targetingKey\` in the context, so that each user gets the same result every time.`,
    );
  }
  const metadata = { featureEnabled: enabled, impressionData };
  const variantName = variant.enabled ? variant.name : enabled ? 'on' : 'off';
  const evaluation = { key, reason, variant: variantName, metadata };
  if (variant.payload === undefined) return hasPayloads(feature) ? evaluation : { ...evaluation, value: enabled };
  try {
    const value = payloadValue(variant.payload);
    return value === null ? evaluation : { ...evaluation, value };
  } catch (error) {
    const { type } = variant.payload;
    const details = `The payload of the variant ${variant.name} of the feature ${key} is no ${type} value: ${(error as Error).message}. Correct it in Bunting.`;
    return failure(key, 'GENERAL', details);
  }
}

/** The context fields in a body. `targetingKey` is the user, and the session, where the context does not name them. */
export function contextFieldsOfOfrep(
  body: OfrepEvaluationBody,
  environment: string,
  callerAddress: string | undefined,
): ReadonlyMap<string, string> {
  const fields = new Map(contextFieldsOfBody(body, environment, callerAddress));
  const key = fields.get('targetingKey') ?? '';
  if (key !== '') {
    for (const name of ['userId', 'sessionId']) if (!fields.get(name)) fields.set(name, key);
  }
  return fields;
}
