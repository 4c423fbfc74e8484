import { call, implement, onBehalfOf } from '@bunting/bus';
import { CheckChanges, EditChange, notFound, refusal } from '@bunting/contracts';
import { parseChange } from '@bunting/contracts/validation';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { changeOf, editChange, requireAuthor, requireSameSubject } from '../../domain/edit-change.ts';
import { requireMayPropose } from '../../domain/may-propose.ts';
import { requireVisible } from '../../domain/move.ts';
import { refusePrototypeKeys } from '../../domain/prototype-keys.ts';
import { shownChangeRequest } from '../../domain/view.ts';
import type { WorkContext } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import { asPosted } from '../as-posted.ts';
import { inBody } from '../in-body.ts';
import { openPreviewsOf } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

const mostTries = 5;

/** Replaces one change. As with new ones, another service says what it means, and an edit in between is noticed. */
export const editChangeEndpoint = ({ bus, reader, work }: ChangeRequestsContext) =>
  implement(EditChange, async (asked) => {
    const { params, body, caller } = asked;
    requireMayPropose(caller, params.projectId);
    refusePrototypeKeys(body, '/body');
    const change = parseChange(body, '/body');

    const answer = async (request: ChangeRequest) => {
      const outlookOf = await openPreviewsOf({ bus, reader }, request.project, [request], onBehalfOf(asked));
      return shownChangeRequest(request, outlookOf(request));
    };

    const tryOnce = async () => {
      const known = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
      requireAuthor(known, caller.id);
      const replaced = changeOf(known, params.changeId);
      requireSameSubject(replaced, change);
      const earlier = known.changes.filter((other) => other !== replaced).map(asPosted);
      const { project, environment } = known;
      const ask = { body: { project, environment, changes: [change], earlier } };
      const { changes } = await call(bus, CheckChanges, ask, onBehalfOf(asked)).catch((error: unknown) => {
        throw inBody(error);
      });
      const [checked] = changes;
      if (checked === undefined) throw new Error('A change that was checked has an answer.');
      const edit = async ({ requests, outbox }: WorkContext): Promise<ChangeRequest | undefined> => {
        const before = await requests.getForUpdate(params.id);
        if (before === undefined) throw notFound(`Could not find change request with id ${params.id}`);
        if (before.revision !== known.revision) return undefined;
        const { request, events } = editChange(before, params.changeId, checked, actorOf(asked));
        await requests.save(before, request);
        for (const event of events) outbox.event(event);
        return request;
      };
      return work.commitThenReply(asked, edit, answer);
    };

    const done = await work.replay(asked, answer);
    if (done !== undefined) return done;

    for (let tries = 0; tries < mostTries; tries++) {
      const reply = await tryOnce();
      if (reply !== undefined) return reply;
    }
    throw refusal('ConflictError', 'Change request was changed by someone else');
  });
