import { call, implement, onBehalfOf } from '@bunting/bus';
import { AddChanges, CheckChanges, type CheckedChange, refusal, unavailable } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { setTimeout as sleep } from 'node:timers/promises';
import { addChanges } from '../../domain/add-changes.ts';
import { relevantChanges } from '../../domain/relevant-changes.ts';
import type { Actor, ChangeRequest, ProposedChange } from '../../domain/change-request.ts';
import { approvalsFor } from '../../domain/configuration.ts';
import { createDraft, isOpen } from '../../domain/content.ts';
import { requireMayPropose } from '../../domain/may-propose.ts';
import { requireMergeable } from '../../domain/merge.ts';
import { refusePrototypeKeys } from '../../domain/prototype-keys.ts';
import { shownChangeRequest } from '../../domain/view.ts';
import { AnotherOpenRequest, type Place } from '../../persistence/change-request-repository.ts';
import type { WorkContext } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import { asPosted } from '../as-posted.ts';
import { inBody } from '../in-body.ts';
import { openPreviewsOf } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { keyedMutex } from '../keyed-mutex.ts';

/** How often changes are checked because the request was edited meanwhile, by way of another replica. */
const mostTries = 20;

interface Addition {
  readonly place: Place;
  /** whether only a draft is added to, and nothing that is in review already */
  readonly onlyToDraft: boolean;
  /** the request that the changes were checked against; none, when there was none */
  readonly known: ChangeRequest | undefined;
  readonly checked: readonly CheckedChange[];
  readonly changeIds: readonly number[];
  readonly actor: Actor;
  /** whether the write is meant for one state of the request alone, which has to be looked at */
  readonly isConditional: boolean;
  readonly isVoluntary: boolean;
}

/** Adds what was checked, unless the request is no longer what it was checked against; then nothing, and `undefined`. */
const addUnlessOutdated = async (
  { requests, outbox }: WorkContext,
  { place, onlyToDraft, known, checked, changeIds, actor, isConditional, isVoluntary }: Addition,
): Promise<ChangeRequest | undefined> => {
  if (known === undefined) {
    if (await requests.hasOpen(actor.by.id, place, onlyToDraft)) return undefined;
    const minApprovals = approvalsFor(await requests.minApprovals(place), isVoluntary);
    const origin = { ...(await requests.newIdentity()), ...place, minApprovals };
    const draft = createDraft(origin, actor);
    const { request, events } = addChanges(draft.request, checked, changeIds, actor);
    await requests.add(request);
    for (const event of [...draft.events, ...events]) outbox.event(event);
    return request;
  }
  if (known.state === 'Draft' && !isConditional) {
    const { request, events } = addChanges(known, checked, changeIds, actor);
    if (request !== known && !(await requests.saveDraft(known, request))) return undefined;
    for (const event of events) outbox.event(event);
    return request;
  }
  const before = await requests.getForUpdate(known.id);
  if (before === undefined || !isOpen(before) || before.revision !== known.revision) return undefined;
  if (before.applying !== null) return undefined;
  if (onlyToDraft && before.state !== 'Draft') return undefined;
  const { request, events } = addChanges(before, checked, changeIds, actor);
  if (request !== before) await requests.save(before, request);
  for (const event of events) outbox.event(event);
  return request;
};

/**
 * Adds to the caller's open request for the project and environment, or creates it. Another service says what the changes
 * mean, and no lock is held while it is asked: an edit in between is noticed by the revision, or by a look before a draft is
 * made, and then all is done again with what is there now. What all of it would come to is asked while it is being stored.
 */
export const addChangesEndpoint = ({ bus, reader, work, isVoluntary }: ChangeRequestsContext) => {
  const takeTurn = keyedMutex();
  return implement(AddChanges, async (asked) => {
    const { params, query, body, caller, deadline } = asked;
    requireMayPropose(caller, params.projectId);
    refusePrototypeKeys(body, '/body');
    const changes = parseChanges(body);
    const at = (nth: number): string => (Array.isArray(body) ? `/body/${nth}` : '/body');
    const place = { project: params.projectId, environment: params.environment };
    const onlyToDraft = query.new === true;
    const actor = actorOf(asked);

    const check = async (earlier: readonly ProposedChange[]): Promise<readonly CheckedChange[]> => {
      requireMergeable(earlier, changes, at);
      const ask = { body: { ...place, changes, earlier: relevantChanges(changes, earlier).map(asPosted) } };
      const reply = await call(bus, CheckChanges, ask, onBehalfOf(asked)).catch((error: unknown) => {
        throw Array.isArray(body) ? error : inBody(error);
      });
      return reply.changes;
    };

    const tryOnce = async () => {
      const known = await reader.open(caller.id, place, onlyToDraft);
      const [checked, changeIds] = await Promise.all([
        check(known?.changes ?? []),
        reader.newChangeIds(changes.length),
      ]);
      if (Date.now() >= deadline.getTime()) throw unavailable('There was no time left to add the changes.');
      const before = known ?? createDraft({ id: 0, uid: null, ...place, minApprovals: 1 }, actor).request;
      const expected = addChanges(before, checked, changeIds, actor).request;
      const outlook = openPreviewsOf({ bus, reader }, place.project, [expected], onBehalfOf(asked));
      // Where nothing is stored, nobody waits for it.
      outlook.catch(() => undefined);
      const isConditional = asked.requireMatch !== undefined;
      const addition = { place, onlyToDraft, known, checked, changeIds, actor, isConditional, isVoluntary };
      const answerOf = async (request: ChangeRequest) => shownChangeRequest(request, (await outlook)(expected));
      return work
        .commitThenReply(asked, (tx) => addUnlessOutdated(tx, addition), answerOf)
        .catch((error: unknown) => {
          if (error instanceof AnotherOpenRequest) return undefined;
          throw error;
        });
    };

    /** The answer of what was done before, when somebody asks for it again. */
    const recalled = async (request: ChangeRequest) => {
      const outlookOf = await openPreviewsOf({ bus, reader }, place.project, [request], onBehalfOf(asked));
      return shownChangeRequest(request, outlookOf(request));
    };

    return takeTurn(JSON.stringify([caller.id, place]), async () => {
      for (let tries = 0; tries < mostTries; tries++) {
        const before = await work.replay(asked, recalled);
        if (before !== undefined) return before;
        const answer = await tryOnce();
        if (answer !== undefined) return answer;
        // Two that lost to each other should not meet again at once.
        await sleep(Math.random() * 10);
      }
      throw refusal('ConflictError', 'Change request was changed by someone else');
    });
  });
};
