import { type Asked, JsonText } from '@bunting/bus';
import type { AnyOperation } from '@bunting/contracts';
import type { Tagged } from '../persistence/tags.ts';

/** Replies with what was read, and says the tag that a write of it may name. */
export const tagged = ({ say }: Pick<Asked<AnyOperation>, 'say'>, { json, tag }: Tagged): JsonText => {
  say('ETag', `"${tag}"`);
  return new JsonText(json);
};
