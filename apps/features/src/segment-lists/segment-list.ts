import {
  invalid,
  invalidProperty,
  limitExceeded,
  maxSegmentBlockBytes,
  maxSegmentListBytes,
  maxSegmentListSize,
  refusal,
  type Refusal,
  type SegmentList,
  type SegmentListAction,
} from '@bunting/contracts';
import { blockOfId } from '@bunting/evaluation';
import { sortedIds } from '@bunting/contracts/id-blocks';
import type { ContextFieldReference } from '../projects/project-context.ts';
import { contextFieldNotFound, shortName } from '../refusals.ts';
import type { StoredSegment } from '../segments/segment.ts';

/** A block after a change. */
export interface EditedBlock {
  /** as `sortedIds` returns them */
  readonly ids: readonly string[];
  readonly added: number;
  readonly removed: number;
  /** by how many bytes the ids grow, each with a line break */
  readonly growth: number;
}

/** Changes the ids of one block. @param before the sorted ids that it has @throws Refusal where its ids would be too many bytes */
export function editBlock(
  before: readonly string[],
  received: readonly string[],
  action: SegmentListAction,
): EditedBlock {
  const edited = editIds(before, received, action);
  const bytes = bytesOf(edited.ids);
  if (bytes > maxSegmentBlockBytes && action !== 'remove') {
    const reason = `${edited.ids.length} of the ids have hashes so much alike that they cannot be divided into blocks of ${maxSegmentBlockBytes} bytes`;
    throw invalid(`The list cannot be stored: ${reason}.`, '/body');
  }
  return { ...edited, growth: bytes - bytesOf(before) };
}

/** The bytes of ids in UTF-8, each with a line break. */
function bytesOf(ids: readonly string[]): number {
  return ids.reduce((sum, id) => sum + Buffer.byteLength(id) + 1, 0);
}

function editIds(
  before: readonly string[],
  received: readonly string[],
  action: SegmentListAction,
): Omit<EditedBlock, 'growth'> {
  if (action === 'remove') {
    const removed = new Set(received);
    const ids = before.filter((id) => !removed.has(id));
    return { ids, added: 0, removed: before.length - ids.length };
  }
  const known = new Set(before);
  const incoming = sortedIds(received);
  const added = incoming.filter((id) => !known.has(id));
  if (action === 'replace') {
    return { ids: incoming, added: added.length, removed: before.length - (incoming.length - added.length) };
  }
  return { ids: added.length === 0 ? before : sortedIds([...before, ...added]), added: added.length, removed: 0 };
}

/** Adds ids to the blocks to which they belong. @param blocks as many as the list has */
export function divideIds(ids: readonly string[], blocks: readonly string[][]): void {
  for (const id of ids) blocks[blockOfId(id, blocks.length)]?.push(id);
}

/** The context field of a list after a request. @throws Refusal where the request names none, or another one than the list that stays */
export function contextNameOf(
  { list, name }: StoredSegment,
  action: SegmentListAction,
  requested: string | undefined,
): string {
  const path = '/query/contextName';
  if (list === undefined) {
    if (action === 'remove') throw refusal('NotFoundError', `Segment ${name} has no list`);
    if (requested === undefined)
      throw invalidProperty(`Segment ${shortName(name)} has no list yet, so the request must name its field`, path);
    return requested;
  }
  if (requested === undefined || requested === list.contextName) return list.contextName;
  if (action === 'replace') return requested;
  throw invalidProperty(
    `The list of segment ${shortName(name)} is one of ${shortName(list.contextName)}; replace it to change the field`,
    path,
  );
}

/** Refuses to stage a list of a segment that no change request changes. */
export function requireSegmentOfProject({ project }: StoredSegment): void {
  if (project !== null) return;
  const reason = 'A change request changes segments of its project, and this one is for every project';
  throw invalidProperty(reason, '/query/staged');
}

/** Refuses a list of a field that does not exist, or has legal values, of which constraints choose. */
export function requireListableField(
  contextName: string,
  field: ContextFieldReference | undefined,
  path = '/query/contextName',
): void {
  if (field === undefined) throw contextFieldNotFound(contextName);
  if (field.legalValues.length === 0) return;
  const reason = `The context field ${shortName(contextName)} has legal values. Choose among them with a constraint`;
  throw invalidProperty(reason, path);
}

/** Refuses a list that is too large. @param bytes of its ids, each with a line break */
export function requireListWithinLimits(size: number, bytes: number): void {
  if (size > maxSegmentListSize) throw limitExceeded('ids in the list of a segment', maxSegmentListSize, '/body');
  if (bytes > maxSegmentListBytes)
    throw limitExceeded('bytes in the ids of the list of a segment', maxSegmentListBytes, '/body');
}

/**
 * Refuses a list with which the lists of all segments would be too large. One that does not grow is never refused.
 * @param before the bytes of what it replaces
 * @param others the bytes of all others
 */
export function requireListsWithinLimit(
  bytes: number,
  { before, others }: { readonly before: number; readonly others: number },
  limit: number,
): void {
  if (bytes <= before || others + bytes <= limit) return;
  const mib = (value: number): string => (value / 1024 / 1024).toFixed(1);
  const message = `The lists of all segments may have ${mib(limit)} MiB of ids together (FEATURES_MAX_SEGMENT_LISTS_MIB). The others have ${mib(others)} MiB, and this one would have ${mib(bytes)} MiB.`;
  throw refusal('ExceedsLimitError', message, { details: [{ message, path: '/body' }] });
}

/** The refusal of an upload whose pieces are not there, or not those that were sent. */
export function incompleteUpload(): Refusal {
  return refusal('ConflictError', 'The pieces of the upload are not complete any more. Send the list again.');
}

/** Whether two lists are the same but for their version. */
export function isSameList(before: SegmentList | undefined, contextName: string, changes: number): boolean {
  return before !== undefined && before.contextName === contextName && changes === 0;
}
