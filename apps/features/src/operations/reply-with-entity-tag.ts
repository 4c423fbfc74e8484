import { type OperationRequest, JsonText } from '@bunting/bus';
import type { AnyOperation } from '@bunting/contracts';
import type { JsonWithEntityTag } from '../persistence/transactions/conditional-write.ts';

/** Replies with JSON and sets the `ETag` header, which a conditional write can send as `If-Match`. */
export const replyWithEntityTag = (
  { setHeader }: Pick<OperationRequest<AnyOperation>, 'setHeader'>,
  { json, tag }: JsonWithEntityTag,
): JsonText => {
  setHeader('ETag', `"${tag}"`);
  return new JsonText(json);
};
