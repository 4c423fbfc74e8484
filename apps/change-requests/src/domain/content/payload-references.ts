import { asJsonObject, type ChangeAction } from '@bunting/contracts';

/** The id of the strategy or segment that the payload of a change names, if it names one. */
export const payloadIdOf = (payload: unknown): unknown => asJsonObject(payload)['id'];

/** The feature that a change makes the parent of another; undefined for any other change. */
export const parentFeatureOf = ({
  action,
  payload,
}: {
  readonly action: ChangeAction;
  readonly payload?: unknown;
}): string | undefined => {
  const parent = action === 'addDependency' ? asJsonObject(payload)['feature'] : undefined;
  return typeof parent === 'string' ? parent : undefined;
};
