import { Type } from 'typebox';
import {
  type Change,
  changeActions,
  changeSchemas,
  type FeatureChange,
  isSegmentChange,
  maxProposedChanges,
  type SegmentChange,
} from '../changes/change.ts';
import { invalid } from '../errors.ts';
import { parse } from './parse.ts';

const AnyChanges = Type.Array(Type.Unknown(), { minItems: 1, maxItems: maxProposedChanges });
const AnyChange = Type.Object({
  action: Type.Enum([...changeActions], { type: 'string' }),
});

/**
 * Validates one change against the schema of its action.
 * @returns the change with the members `action`, `feature` (unless it is about a segment) and `payload` alone
 */
export const parseChange = (value: unknown, path: string): Change => {
  const { action } = parse(AnyChange, value, path);
  const change: Change = parse(changeSchemas[action], value, path);
  if (isSegmentChange(change)) return { action, payload: change.payload } as SegmentChange;
  return { action, feature: change.feature, payload: change.payload ?? {} } as FeatureChange;
};

/**
 * Validates a body that is one change or a list of changes. A change without a payload gets `{}`; a change to a segment
 * loses its `feature`.
 * @throws Refusal `ValidationError` that names the invalid property, such as `/body/0/payload/id`.
 */
export const parseChanges = (body: unknown): Change[] => {
  if (body === undefined)
    throw invalid('The `/body` property is required. It was not present on the data you sent.', '/body');
  if (!Array.isArray(body)) return [parseChange(body, '/body')];
  return parse(AnyChanges, body, '/body').map((change, index) => parseChange(change, `/body/${index}`));
};
