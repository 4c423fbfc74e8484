import { type OperationRequest, JsonText } from '@bunting/bus';
import type { AnyOperation } from '@bunting/contracts';
import type { TaggedJson } from '../persistence/entity-tags.ts';

/** Replies with what was read, and says the tag that a write of it may name. */
export const replyWithEntityTag = (
  { setHeader }: Pick<OperationRequest<AnyOperation>, 'setHeader'>,
  { json, tag }: TaggedJson,
): JsonText => {
  setHeader('ETag', `"${tag}"`);
  return new JsonText(json);
};
