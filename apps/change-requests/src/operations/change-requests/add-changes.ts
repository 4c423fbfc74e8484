import { type Bus, call, implement } from '@bunting/bus';
import { AddChanges, CheckChanges, type CheckedChange, parseChanges, refusal, unavailable } from '@bunting/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import { addChanges } from '../../domain/add-changes.ts';
import type { Actor, ChangeRequest } from '../../domain/change-request.ts';
import { createDraft, isOpen } from '../../domain/content.ts';
import { requireMergeable } from '../../domain/merge.ts';
import { refusePrototypeKeys } from '../../domain/prototype-keys.ts';
import { shownChangeRequest } from '../../domain/view.ts';
import {
  AnotherOpenRequest,
  type ChangeRequestReader,
  type Place,
} from '../../persistence/change-request-repository.ts';
import type { UnitOfWork, Work } from '../../persistence/unit-of-work.ts';
import { asPosted } from '../as-posted.ts';
import { inBody } from '../in-body.ts';
import { onBehalfOf } from '../on-behalf-of.ts';
import { outlooksOf } from '../outlooks.ts';
import { takingTurns } from '../turns.ts';

/** How often changes are checked because the request was edited meanwhile, by way of another replica. */
const mostTries = 20;

/** Adds what was checked, unless the request is no longer what it was checked against; then nothing, and `undefined`. */
const addUnlessOutdated = async (
  { requests, outbox }: Work,
  known: ChangeRequest | undefined,
  checked: readonly CheckedChange[],
  place: Place,
  actor: Actor,
): Promise<ChangeRequest | undefined> => {
  if (known === undefined) {
    const origin = { id: await requests.newRequestId(), ...place, minApprovals: await requests.minApprovals(place) };
    const draft = createDraft(origin, actor);
    const { request, events } = addChanges(draft.request, checked, await requests.newChangeIds(checked.length), actor);
    await requests.add(request);
    for (const event of [...draft.events, ...events]) outbox.event(event);
    return request;
  }
  const before = await requests.getForUpdate(known.id);
  if (before === undefined || !isOpen(before) || before.revision !== known.revision) return undefined;
  const { request, events } = addChanges(before, checked, await requests.newChangeIds(checked.length), actor);
  if (request !== before) await requests.save(before, request);
  for (const event of events) outbox.event(event);
  return request;
};

/**
 * Adds to the caller's open request for the project and environment, or creates it. Another service says what the changes
 * mean, and no lock is held while it is asked: an edit in between is noticed by the revision, or by the index that allows one
 * open request, and then all is done again with what is there now.
 */
export const addChangesEndpoint = (bus: Bus, reader: ChangeRequestReader, work: UnitOfWork) => {
  const takeTurn = takingTurns();
  return implement(AddChanges, async (asked) => {
    const { params, body, caller, now, deadline } = asked;
    refusePrototypeKeys(body, '/body');
    const changes = parseChanges(body);
    const at = (nth: number): string => (Array.isArray(body) ? `/body/${nth}` : '/body');
    const place = { project: params.projectId, environment: params.environment };
    const actor = { by: { id: caller.id, name: caller.name }, now };

    const answer = async (request: ChangeRequest) => {
      const outlookOf = await outlooksOf(bus, place.project, [request], onBehalfOf(asked));
      return shownChangeRequest(request, outlookOf(request));
    };

    const tryOnce = async () => {
      const known = await reader.open(caller.id, place);
      const earlier = known?.changes ?? [];
      requireMergeable(earlier, changes, at);
      const ask = { body: { ...place, changes, earlier: earlier.map(asPosted) } };
      const { changes: checked } = await call(bus, CheckChanges, ask, onBehalfOf(asked)).catch((error: unknown) => {
        throw Array.isArray(body) ? error : inBody(error);
      });
      if (Date.now() >= deadline.getTime()) throw unavailable('There was no time left to add the changes.');
      try {
        return await work.thenReply(asked, (tx) => addUnlessOutdated(tx, known, checked, place, actor), answer);
      } catch (error) {
        if (error instanceof AnotherOpenRequest) return undefined;
        throw error;
      }
    };

    return takeTurn(JSON.stringify([caller.id, place]), async () => {
      const before = await work.recall(asked, answer);
      if (before !== undefined) return before;
      for (let tries = 0; tries < mostTries; tries++) {
        const reply = await tryOnce();
        if (reply !== undefined) return reply;
        // Two that lost to each other should not meet again at once.
        await sleep(Math.random() * 10);
      }
      throw refusal('ConflictError', 'Change request was changed by someone else');
    });
  });
};
