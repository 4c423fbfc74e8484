import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Endpoint, implement, type OperationRequest } from '@bunting/bus';
import {
  AddSegmentIds,
  DiscardSegmentIds,
  GetSegmentBlocks,
  GetSegmentList,
  invalid,
  maxSegmentListBytes,
  refusal,
  RemoveSegmentIds,
  ReplaceSegmentList,
  type SegmentListAction,
  type SegmentListChange,
  StageSegmentIds,
  type UploadedIds,
} from '@bunting/contracts';
import {
  blockCountFor,
  decodeIdBlock,
  decodeRootBlock,
  encodeIdBlock,
  encodeRootBlock,
  idsOfBlock,
  type StoredBlock,
} from '@bunting/contracts/id-blocks';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { authoriseSegment, segmentListChanged, type StoredSegment } from '../segments/segment.ts';
import type { Transaction, TransactionContext } from '../unit-of-work/unit-of-work.ts';
import {
  contextNameOf,
  divideIds,
  editBlock,
  incompleteUpload,
  isSameList,
  requireListableField,
  requireListsWithinLimit,
  requireListWithinLimits,
  requireSegmentOfProject,
} from './segment-list.ts';

/** The blocks that are read, changed and stored at a time: some tens of milliseconds of work, and half a megabyte. */
const blocksAtOnce = 16;
/** How often a change is worked out anew because another one came first. */
const maxAttempts = 10;

type ListEdit = typeof ReplaceSegmentList | typeof AddSegmentIds | typeof RemoveSegmentIds;
type EditRequest = OperationRequest<ListEdit>;

/** Thrown where the list was changed after a change of it was worked out, which is then done anew. */
class ListMoved extends Error {}

/** A changed list, whose blocks are stored, and no list names them yet. */
interface PreparedList {
  /** the version of the list that was changed; undefined where there was none */
  readonly version: number | undefined;
  readonly root: Buffer;
  readonly size: number;
  readonly bytes: number;
  readonly added: number;
  readonly removed: number;
}

/** The context of short transactions, which store no reply. */
function contextOf({ caller, now, deadline, signal, traceparent }: TransactionContext): TransactionContext {
  return { caller, now, deadline, signal, traceparent };
}

async function requireContextField({ contextFields }: Transaction, contextName: string): Promise<void> {
  const fields = await contextFields.referencedBy([{ contextName }]);
  requireListableField(contextName, fields.get(contextName));
}

function authoriseEdit(request: Pick<EditRequest, 'caller'>, segment: StoredSegment): void {
  authoriseSegment(request.caller, { atRoot: 'UPDATE_SEGMENT', operation: ReplaceSegmentList }, segment.project);
}

/** Runs a job in a short transaction before the one that changes the segment and stores the reply. */
type Run = <T>(job: (tx: Transaction) => Promise<T>) => Promise<T>;

/** The received ids by block, after their pieces were found complete. */
async function readUpload(run: Run, segment: number, uploaded: UploadedIds, count: number): Promise<string[][]> {
  const blocks: string[][] = Array.from({ length: count }, () => []);
  const hash = createHash('sha256');
  for (let piece = 0; piece < uploaded.pieces; piece++) {
    const stored = await run(({ segmentLists }) => segmentLists.piece(segment, uploaded.upload, piece));
    if (stored === undefined) throw incompleteUpload();
    const text = inflateRawSync(stored, { maxOutputLength: maxSegmentListBytes });
    hash.update(text);
    divideIds(idsOfBlock(text), blocks);
  }
  if (hash.digest('hex') !== uploaded.hash) throw incompleteUpload();
  return blocks;
}

async function readBlocks(run: Run, hashes: readonly Buffer[]): Promise<Map<string, Uint8Array>> {
  const texts = new Map<string, Uint8Array>();
  for (let from = 0; from < hashes.length; from += blocksAtOnce) {
    const wanted = hashes.slice(from, from + blocksAtOnce);
    const stored = await run(({ segmentLists }) => segmentLists.blocks(wanted));
    for (const block of stored) texts.set(block.hash.toString('hex'), decodeIdBlock(block));
  }
  if (hashes.some((hash) => !texts.has(hash.toString('hex')))) throw new ListMoved();
  return texts;
}

/** The ids of all blocks, divided among another number of blocks. */
async function divideAnew(run: Run, hashes: readonly Buffer[], count: number): Promise<string[][]> {
  const divided: string[][] = Array.from({ length: count }, () => []);
  for (let from = 0; from < hashes.length; from += blocksAtOnce) {
    const texts = await readBlocks(run, hashes.slice(from, from + blocksAtOnce));
    for (const text of texts.values()) divideIds(idsOfBlock(text), divided);
    await setImmediate();
  }
  return divided;
}

/** Works out a changed list and stores its new blocks, a few at a time, so that neither the event loop nor a connection is held for long. */
async function prepareList(
  run: Run,
  request: EditRequest,
  action: SegmentListAction,
  uploaded: UploadedIds,
): Promise<PreparedList> {
  const { segment, rootBlock, bytesBefore } = await run(async ({ segmentLists }) => {
    const { segment, root, bytes } = await segmentLists.getEditable(request.params.id, request.query?.staged);
    const [rootBlock] = root === null ? [] : await segmentLists.blocks([root]);
    if (root !== null && rootBlock === undefined) throw new ListMoved();
    return { segment, rootBlock, bytesBefore: bytes ?? 0 };
  });
  authoriseEdit(request, segment);
  const hashes = rootBlock === undefined ? [] : decodeRootBlock(rootBlock);
  const sizeBefore = segment.list?.size ?? 0;
  const expectedSize = (action === 'replace' ? 0 : sizeBefore) + (action === 'remove' ? 0 : uploaded.received);
  const expectedBytes = (action === 'replace' ? 0 : bytesBefore) + (action === 'remove' ? 0 : uploaded.bytes);
  const count = blockCountFor(expectedSize, expectedBytes, rootBlock === undefined ? undefined : hashes.length);
  const received = await readUpload(run, request.params.id, uploaded, count);
  const divided = count === hashes.length ? undefined : await divideAnew(run, hashes, count);

  const after: Buffer[] = [];
  let [added, removed, bytes] = [0, 0, bytesBefore];
  for (let from = 0; from < count; from += blocksAtOnce) {
    const indexes = Array.from({ length: Math.min(blocksAtOnce, count - from) }, (_, nth) => from + nth);
    const touched = indexes.filter((index) => action === 'replace' || (received[index]?.length ?? 0) > 0);
    const texts = await readBlocks(run, divided !== undefined ? [] : touched.map((index) => hashes[index] as Buffer));
    const changed: StoredBlock[] = [];
    for (const index of indexes) {
      const present = hashes[index];
      if (divided === undefined && present !== undefined && !touched.includes(index)) {
        after.push(present);
        continue;
      }
      const text = texts.get(present?.toString('hex') ?? '');
      const before = text === undefined ? (divided?.[index] ?? []) : idsOfBlock(text);
      const edited = editBlock(before, received[index] ?? [], action);
      received[index] = [];
      added += edited.added;
      removed += edited.removed;
      bytes += edited.growth;
      const block = encodeIdBlock(edited.ids);
      after.push(block.hash);
      if (divided !== undefined || present?.equals(block.hash) !== true) changed.push(block);
    }
    if (changed.length > 0) await run(({ segmentLists }) => segmentLists.addBlocks(changed));
    await setImmediate();
  }
  const size = sizeBefore + added - removed;
  requireListWithinLimits(size, bytes);
  const root = encodeRootBlock(after);
  await run(({ segmentLists }) => segmentLists.addBlocks([root]));
  return { version: segment.list?.version, root: root.hash, size, bytes, added, removed };
}

export function segmentListEndpoints({
  transaction,
  segmentLists: reader,
  maxListsBytes,
}: FeaturesContext): readonly Endpoint[] {
  const edit = (request: EditRequest, action: SegmentListAction, uploaded: UploadedIds, prepared: PreparedList) =>
    transaction(request, async (tx): Promise<SegmentListChange> => {
      const { segment } = await tx.segments.getForUpdate(request.params.id);
      authoriseEdit(request, segment);
      const contextName = contextNameOf(segment, action, request.query.contextName);
      if (contextName !== segment.list?.contextName) await requireContextField(tx, contextName);
      if (segment.list?.version !== prepared.version) throw new ListMoved();
      await tx.segmentLists.removePieces(uploaded.upload);
      const { root, size, bytes, added, removed } = prepared;
      const reply = { received: uploaded.received, added, removed };
      if (isSameList(segment.list, contextName, added + removed)) return { ...reply, list: segment.list ?? null };
      if (request.query.staged === true) {
        requireSegmentOfProject(segment);
        const { own, others } = await tx.segmentLists.lockAndSumBytes(segment.id, root);
        requireListsWithinLimit(bytes, { before: own, others }, maxListsBytes);
        const staged = { contextName, size, added, removed, replaced: segment.list ?? null };
        await tx.segmentLists.addStaged(segment.id, staged, { root, bytes });
        return { ...reply, list: segment.list ?? null, staged: { ...staged, root: root.toString('hex') } };
      }
      const { own, others } = await tx.segmentLists.lockAndSumBytes(segment.id);
      requireListsWithinLimit(bytes, { before: own, others }, maxListsBytes);
      const after = await tx.segments.saveList(segment, { contextName, size, bytes, root }, (changed) => [
        segmentListChanged(segment, changed, { added, removed }),
      ]);
      return { ...reply, list: after.list ?? null };
    });

  /** Proposes to remove the list: nothing has to be stored for it. */
  const proposeRemoval = (request: EditRequest) =>
    transaction(contextOf(request), async ({ segmentLists }): Promise<SegmentListChange> => {
      const { segment } = await segmentLists.getEditable(request.params.id, true);
      authoriseEdit(request, segment);
      requireSegmentOfProject(segment);
      const list = segment.list ?? null;
      const numbers = { added: 0, removed: list?.size ?? 0 };
      const reply = { list, received: 0, ...numbers };
      if (list === null) return reply;
      return { ...reply, staged: { contextName: null, root: null, size: 0, ...numbers, replaced: list } };
    });

  const remove = (request: EditRequest) =>
    transaction(request, async (tx): Promise<SegmentListChange> => {
      const { segment } = await tx.segments.getForUpdate(request.params.id);
      authoriseEdit(request, segment);
      const removed = segment.list?.size ?? 0;
      const reply = { list: null, received: 0, added: 0, removed };
      if (segment.list === undefined) return reply;
      await tx.segments.saveList(segment, undefined, (after) => [
        segmentListChanged(segment, after, { added: 0, removed }),
      ]);
      return reply;
    });

  const editOrRepeat = async (request: EditRequest, action: SegmentListAction, uploaded: UploadedIds) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const run: Run = (job) => transaction(contextOf(request), job);
        return await edit(request, action, uploaded, await prepareList(run, request, action, uploaded));
      } catch (error) {
        if (!(error instanceof ListMoved)) throw error;
        if (attempt === maxAttempts)
          throw refusal('ConflictError', 'The list is being changed by other requests. Send the request again.');
      }
    }
  };

  return [
    implement(GetSegmentList, async ({ params, query, caller }) => {
      const staged = query?.staged;
      const list = await reader.one(params.id, hiddenProjectsOf(caller), staged);
      if (list === undefined)
        throw refusal(
          'NotFoundError',
          staged === undefined
            ? `Segment ${params.id} has no list`
            : `Nothing is staged for segment ${params.id} under this root`,
        );
      return list;
    }),

    implement(GetSegmentBlocks, async ({ body }) => {
      const blocks = await reader.blocks(body.hashes.map((hash) => Buffer.from(hash, 'hex')));
      return {
        blocks: blocks.map(({ hash, content }) => ({
          hash: hash.toString('hex'),
          content: content.toString('base64'),
        })),
      };
    }),

    implement(StageSegmentIds, (request) => {
      const { params, query, body } = request;
      return transaction(contextOf(request), async (tx) => {
        const { segment } = await tx.segmentLists.getEditable(params.id, query.staged);
        authoriseEdit(request, segment);
        if (query.staged === true) requireSegmentOfProject(segment);
        const contextName = contextNameOf(segment, body.action, query.contextName);
        if (contextName !== segment.list?.contextName) await requireContextField(tx, contextName);
        if (body.ids.length > 0) {
          const text = body.ids.map((id) => `${id}\n`).join('');
          const { upload, piece } = body;
          await tx.segmentLists.addPiece(params.id, { upload, piece, ids: deflateRawSync(text, { level: 1 }) });
        }
        return { contextName };
      });
    }),

    implement(DiscardSegmentIds, (request) =>
      transaction(contextOf(request), async ({ segmentLists }) => {
        await segmentLists.removePieces(request.body.upload);
        return null;
      }),
    ),

    implement(ReplaceSegmentList, (request) => editOrRepeat(request, 'replace', request.body)),
    implement(AddSegmentIds, (request) => editOrRepeat(request, 'add', request.body)),
    implement(RemoveSegmentIds, (request) => {
      const { all = false, contextName, staged = false } = request.query ?? {};
      // A body that was lost on its way must not open the segment to everybody.
      if (all !== (request.body === null) || (all && contextName !== undefined))
        throw invalid(
          'Send the ids to remove as the body, or `all=true` without a body to remove the list.',
          '/query/all',
        );
      if (request.body !== null) return editOrRepeat(request, 'remove', request.body);
      return staged ? proposeRemoval(request) : remove(request);
    }),
  ];
}
