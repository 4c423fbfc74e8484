import { implement, onBehalfOf } from '@bunting/bus';
import { isSegmentChange, parseChanges, PreviewChangeRequest, PreviewProposal } from '@bunting/contracts';
import type { ChangeRequest, ProposedChange } from '../../domain/change-request.ts';
import { createDraft } from '../../domain/content.ts';
import { requireMayPropose } from '../../domain/may-propose.ts';
import { requireVisible } from '../../domain/move.ts';
import { refusePrototypeKeys } from '../../domain/prototype-keys.ts';
import { actorOf } from '../actor.ts';
import { type Preview, previewsOf } from '../outlooks.ts';
import type { Surroundings } from '../surroundings.ts';

const previewOf = (previews: ReadonlyMap<number, Preview>, { id }: ChangeRequest): Preview['preview'] => {
  const found = previews.get(id);
  if (found === undefined) throw new Error('A request that was asked about has an answer.');
  return found.preview;
};

export const previewChangeRequestEndpoint = ({ bus, reader }: Pick<Surroundings, 'bus' | 'reader'>) =>
  implement(PreviewChangeRequest, async (asked) => {
    const { params, caller } = asked;
    const request = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
    const previews = await previewsOf({ bus, reader }, request.project, [request], true, onBehalfOf(asked));
    return previewOf(previews, request);
  });

/** Previews changes that nobody has proposed. Their places in the list stand for their ids. */
export const previewProposalEndpoint = ({ bus, reader }: Pick<Surroundings, 'bus' | 'reader'>) =>
  implement(PreviewProposal, async (asked) => {
    const { params, body, caller } = asked;
    requireMayPropose(caller, params.projectId);
    refusePrototypeKeys(body, '/body');
    const actor = actorOf(asked);
    const place = { project: params.projectId, environment: params.environment };
    const draft = createDraft({ id: 0, uid: null, ...place, minApprovals: 1 }, actor).request;
    const changes = parseChanges(body).map((change, id): ProposedChange => {
      const subject = isSegmentChange(change)
        ? { feature: null, segment: { id: change.payload.id, name: '' } }
        : { feature: change.feature, segment: null };
      const origin = { id, position: id, createdBy: actor.by, createdAt: draft.createdAt };
      return { ...origin, ...subject, action: change.action, payload: change.payload, snapshot: null };
    });
    const request = { ...draft, changes };
    const previews = await previewsOf({ bus, reader }, place.project, [request], true, onBehalfOf(asked));
    return previewOf(previews, request);
  });
