import { type OperationRequest, JsonText } from '@bunting/bus';
import type { AnyOperation } from '@bunting/contracts';
import type { Tagged } from '../persistence/tags.ts';

/** Replies with what was read, and says the tag that a write of it may name. */
export const tagged = (
  { setHeader }: Pick<OperationRequest<AnyOperation>, 'setHeader'>,
  { json, tag }: Tagged,
): JsonText => {
  setHeader('ETag', `"${tag}"`);
  return new JsonText(json);
};
