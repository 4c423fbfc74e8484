import { maxBytesPerChangeRequest, refusal } from '@bunting/contracts';
import type { ProposedChange } from '../../requests/change-request.ts';

/** The bytes of what changes store as JSON: their payloads, and the states that they replace. */
const contentBytes = (changes: readonly ProposedChange[]): number =>
  changes.reduce((sum, { payload, snapshot }) => sum + Buffer.byteLength(JSON.stringify([payload, snapshot])), 0);

/**
 * Refuses content that is larger than a change request may be. Content that exceeds the limit already, as that of a reverting draft may, can
 * still shrink.
 * @throws Refusal `ExceedsLimitError`
 */
export const requireContentSize = (before: readonly ProposedChange[], after: readonly ProposedChange[]): void => {
  const bytes = contentBytes(after);
  if (bytes <= maxBytesPerChangeRequest || bytes <= contentBytes(before)) return;
  const message = `A change request can hold at most ${maxBytesPerChangeRequest} bytes, with what its changes replace. Propose fewer or smaller changes.`;
  throw refusal('ExceedsLimitError', message, { details: [{ message, path: '/body' }] });
};
