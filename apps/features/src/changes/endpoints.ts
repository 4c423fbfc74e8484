import { hash, randomUUID } from 'node:crypto';
import { type Endpoint, implement, type OperationRequest, writes } from '@bunting/bus';
import {
  affectedEnvironments,
  type AppliedChanges,
  ApplyChanges,
  asJsonObject,
  type Change,
  type ChangeWithSnapshot,
  CheckChanges,
  isEqualContent,
  isFinalRefusal,
  approvalOutdated,
  isSegmentChange,
  noAccess,
  PreviewChanges,
  projectGone,
  projectNotFound,
  SetProtection,
} from '@bunting/contracts';
import { canonicalJson } from '@bunting/contracts/hashing';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import type { DomainEvent } from '../features/feature.ts';
import { possibleReferencesIn } from '../projects/project-context-store.ts';
import { notAuthorisedIn } from '../refusals.ts';
import { requireListsWithinLimit } from '../segment-lists/segment-list.ts';
import type { StoredSegment } from '../segments/segment.ts';
import { saveChangedFeatures } from '../unit-of-work/save-decisions.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { handlerOf } from './action-handlers.ts';
import { applyInMemory } from './apply-in-memory.ts';
import { approvalBasis } from './approval-basis.ts';
import { type ChangeContext, segmentIdsOf, stagedListOf } from './change-context.ts';
import type { ChangeContextQuery, StoredChangeContext } from './change-store.ts';
import { type ApplyConflict, currentSnapshot, findOverwriteConflicts } from './conflicts.ts';
import { inverseChanges } from './inverse-changes.ts';
import { prepareProposal } from './prepare-proposal.ts';
import { previewChanges } from './preview-changes.ts';

export function changeEndpoints({
  readChangeContext,
  transaction,
  maxListsBytes,
}: FeaturesContext): readonly Endpoint[] {
  return [
    implement(CheckChanges, async ({ body, caller, now }) => {
      const { project, environment, changes, earlier, order } = body;
      const stored = await readChangeContext(
        changeContextQuery(project, [...earlier, ...changes]),
        hiddenProjectsOf(caller),
      );
      if (stored === undefined) throw projectNotFound(project);
      return { changes: prepareProposal(changes, { earlier, order }, toChangeContext(stored, environment, now)) };
    }),

    /** Previews change requests independently of each other. Reads what they refer to in one statement. */
    implement(PreviewChanges, async ({ body, caller, now }) => {
      const { project, requests, withStates } = body;
      const changes = requests.flatMap((request) => request.changes.map(({ change }) => change));
      const stored = await readChangeContext(changeContextQuery(project, changes), hiddenProjectsOf(caller));
      if (stored === undefined) throw projectNotFound(project);
      const previews = requests.map((request) => {
        const storedForRequest =
          requests.length === 1
            ? stored
            : partOf(
                stored,
                request.changes.map(({ change }) => change),
              );
        const changeContext = toChangeContext(storedForRequest, request.environment, now);
        return {
          preview: previewChanges(request.changes, changeContext, withStates),
          snapshots: withStates
            ? request.changes.map(({ id, change }) => ({ id, snapshot: currentSnapshot(change, changeContext) }))
            : [],
        };
      });
      return { previews };
    }),

    /**
     * Applies all changes of a request or none, and stores the result in the same transaction: a repeated attempt gets the same result. A
     * refusal is stored, too, so that a delayed message cannot apply what was reported as refused.
     */
    implement(ApplyChanges, async (request) => {
      const { changeRequestId, uid = null, attempt } = request.body;
      const applyAttempt = { id: changeRequestId, uid, attempt, content: contentHashOf(request.body) };
      const changeRequest = {
        kind: 'change request',
        project: request.body.project,
        authorisedEnvironments: authorisedEnvironmentsOf(request.body),
      } as const;
      const applyIdempotently = (decide: (tx: Transaction) => Promise<AppliedChanges>) =>
        transaction({ ...request, changeRequest }, async (tx) => {
          const previous = await tx.attemptResults.lockAndFindEarlier(applyAttempt);
          if (previous !== undefined) return previous;
          const result = await decide(tx);
          await tx.attemptResults.store(applyAttempt, result);
          return result;
        });
      try {
        return await applyIdempotently((tx) => applyOnce(tx, request, maxListsBytes));
      } catch (error) {
        if (!isFinalRefusal(error)) throw error;
        return applyIdempotently(async () =>
          refusedResult('conflict', [{ code: 'invalid-payload', message: error.message }]),
        );
      }
    }),

    writes(SetProtection, transaction, ({ protectionCopy }, { body }) => protectionCopy.setIfNewer(body)),
  ];
}

/** The context of changes in an environment at the time of a request, from what is stored. */
export function toChangeContext(stored: StoredChangeContext, environment: string, now: Date): ChangeContext {
  return {
    ...stored,
    environment,
    now: now.toISOString(),
    generateStrategyId: randomUUID,
  };
}

/** The names of the features that changes edit or refer to. */
export function featureNamesToRead(changes: readonly Change[]): string[] {
  return changes.flatMap((change) => {
    const { features = [] } = handlerOf(change).alsoReads(change);
    return isSegmentChange(change) ? [...features] : [change.feature, ...features];
  });
}

/** What the context of changes has to be read for: the objects that they edit or refer to. */
export function changeContextQuery(project: string, changes: readonly Change[]): ChangeContextQuery {
  return {
    project,
    ...possibleReferencesIn(changes),
    features: featureNamesToRead(changes),
    segments: segmentIdsOf(changes),
    segmentNames: changes.flatMap((change) => handlerOf(change).alsoReads(change).segmentNames ?? []),
    stagedLists: changes.flatMap((change) => handlerOf(change).alsoReads(change).stagedLists ?? []),
  };
}

function pick<Key, Value>(map: ReadonlyMap<Key, Value>, keys: readonly Key[]): ReadonlyMap<Key, Value> {
  return new Map(
    keys.flatMap((key) => {
      const value = map.get(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** The part of the stored context that one request needs, so that its preview does not get slower with the number of requests. */
function partOf(stored: StoredChangeContext, changes: readonly Change[]): StoredChangeContext {
  return {
    ...stored,
    features: pick(stored.features, featureNamesToRead(changes)),
    segments: pick(stored.segments, segmentIdsOf(changes)),
  };
}

type ApplyChangesRequest = OperationRequest<typeof ApplyChanges>;

function refusedResult(outcome: 'conflict' | 'overwrites', conflicts: readonly ApplyConflict[]): AppliedChanges {
  return {
    outcome,
    conflicts: [...conflicts],
    inverse: [],
  };
}

/** Locks the features and segments that the changes edit or may use, in a fixed order, and reads everything the rules need. */
async function lockChangeContext(
  { features, segments, segmentLists, readChangeContext }: Transaction,
  { body, caller, now }: ApplyChangesRequest,
) {
  const query = changeContextQuery(
    body.project,
    body.changes.map(({ change }) => change),
  );
  await features.findWithParentsForUpdate([...new Set(query.features)]);
  await segments.lock(query.segments);
  await segments.lockUsable(query.numbers, body.project);
  await segmentLists.lockStaged(query.segments, query.stagedLists);
  const stored = await readChangeContext(query, hiddenProjectsOf(caller));
  if (stored === undefined) return undefined;
  return toChangeContext(stored, body.environment, now);
}

function withRequestId(event: DomainEvent, changeRequestId: number): DomainEvent {
  return {
    ...event,
    data: { ...asJsonObject(event.data), changeRequestId },
    groupType: 'change-request',
    groupId: String(changeRequestId),
  };
}

/** A caller of an older version names none: the change request was approved for its own environment. */
function authorisedEnvironmentsOf({ environment, authorisedEnvironments }: ApplyChangesRequest['body']) {
  return authorisedEnvironments ?? [environment];
}

/** The conflict of the first change of a segment of all projects that the user who applies the request may not make directly. */
function missingSegmentPermission(
  { changes, segmentPermissions = [] }: ApplyChangesRequest['body'],
  { segments }: ChangeContext,
): ApplyConflict | undefined {
  for (const { id: changeId, change } of changes) {
    if (!isSegmentChange(change) || segments.get(change.payload.id)?.project !== null) continue;
    const permission = change.action === 'deleteSegment' ? 'DELETE_SEGMENT' : 'UPDATE_SEGMENT';
    if (segmentPermissions.includes(permission)) continue;
    return { code: 'refused', message: noAccess([permission]).message, segment: change.payload.id, changeId };
  }
  return undefined;
}

async function applyOnce(
  tx: Transaction,
  request: ApplyChangesRequest,
  maxListsBytes: number,
): Promise<AppliedChanges> {
  const { body, caller } = request;
  const changeContext = await lockChangeContext(tx, request);
  if (changeContext === undefined) {
    return refusedResult('conflict', [projectGone]);
  }
  const result = applyInMemory(body.changes, changeContext);
  if (result.conflicts.length > 0) return refusedResult('conflict', result.conflicts);
  const affected = affectedEnvironments(
    body.changes.map(({ change }) => change),
    body.environment,
    changeContext.protectedEnvironments,
  );
  const authorised = authorisedEnvironmentsOf(body);
  const unauthorised = affected.find((environment) => !authorised.includes(environment));
  if (unauthorised !== undefined) {
    return refusedResult('conflict', [{ code: 'approvals-missing', message: notAuthorisedIn(unauthorised).message }]);
  }
  const missing = missingSegmentPermission(body, changeContext);
  if (missing !== undefined) return refusedResult('conflict', [missing]);
  const basis = approvalBasis(changeContext, result);
  if (body.approvedBases?.some((approved) => approved !== basis)) return refusedResult('conflict', [approvalOutdated]);
  const overwrites = body.refuseOverwrites ? findOverwriteConflicts(body.changes, changeContext) : [];
  if (overwrites.length > 0) return refusedResult('overwrites', overwrites);

  const changed = [...result.features.values()].filter(
    (feature) => changeContext.features.get(feature.name) !== feature,
  );
  const changeEvents = result.events.map((event) => withRequestId(event, body.changeRequestId));
  // Takes all events, also those of segments: they have one order, that in which the changes were applied.
  await saveChangedFeatures(tx, changed, changeEvents, caller);
  for (const [id, before] of changeContext.segments) {
    const after = result.segments.get(id);
    if (after === undefined) await tx.segments.remove(before, []);
    else if (after !== before) await saveSegment(tx, { before, after }, body.changes, { changeContext, maxListsBytes });
  }
  return { outcome: 'applied', conflicts: [], inverse: inverseChanges(body.changes, changeContext, result) };
}

/** Stores a segment that changes have edited: its list first, since the event has the version that it gets then. */
async function saveSegment(
  { segments, segmentLists }: Transaction,
  { before, after }: { readonly before: StoredSegment; readonly after: StoredSegment },
  changes: readonly ChangeWithSnapshot[],
  { changeContext, maxListsBytes }: { readonly changeContext: ChangeContext; readonly maxListsBytes: number },
): Promise<void> {
  const { list: listBefore, ...contentBefore } = before;
  const { list: listAfter, ...content } = after;
  if (listBefore !== undefined && listAfter === undefined) await segments.saveList(before, undefined, () => []);
  for (const { change } of listBefore === listAfter || listAfter === undefined ? [] : changes) {
    const staged =
      change.action === 'updateSegmentList' && change.payload.id === before.id
        ? stagedListOf(changeContext, change.payload)
        : undefined;
    if (staged === undefined) continue;
    const { contextName, size, bytes, root } = staged;
    const { own, others } = await segmentLists.lockAndSumBytes(before.id);
    requireListsWithinLimit(bytes, { before: own, others }, maxListsBytes);
    const rootBytes = Buffer.from(root, 'hex');
    await segments.saveList(before, { contextName, size, bytes, root: rootBytes }, () => []);
    await segmentLists.releaseStaged(before.id, rootBytes);
  }
  if (!isEqualContent(contentBefore, content)) await segments.save(before, after, []);
}

/** A hash of the project, the environment and the changes of a request, without the snapshots of replaced states. */
function contentHashOf({ project, environment, changes }: ApplyChangesRequest['body']): string {
  const proposed = changes.map(({ id, change }) => ({ id, change }));
  return hash('sha256', canonicalJson([project, environment, proposed]), 'base64url');
}
