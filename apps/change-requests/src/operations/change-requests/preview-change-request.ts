import { call, implement } from '@bunting/bus';
import { parseChanges, PreviewChangeRequest, PreviewChanges, PreviewProposal } from '@bunting/contracts';
import { requireVisible } from '../../domain/move.ts';
import { refusePrototypeKeys } from '../../domain/prototype-keys.ts';
import { onBehalfOf } from '../on-behalf-of.ts';
import { previewsOf } from '../outlooks.ts';
import type { Surroundings } from '../surroundings.ts';

export const previewChangeRequestEndpoint = ({ bus, reader }: Pick<Surroundings, 'bus' | 'reader'>) =>
  implement(PreviewChangeRequest, async (asked) => {
    const { params, caller } = asked;
    const request = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
    const previews = await previewsOf(bus, request.project, [request], true, onBehalfOf(asked));
    const found = previews.get(request.id);
    if (found === undefined) throw new Error('A request that was asked about has an answer.');
    return found.preview;
  });

/** Previews changes that nobody has proposed. Their places in the list stand for their ids. */
export const previewProposalEndpoint = ({ bus }: Pick<Surroundings, 'bus'>) =>
  implement(PreviewProposal, async (asked) => {
    const { params, body } = asked;
    refusePrototypeKeys(body, '/body');
    const changes = parseChanges(body).map((change, id) => ({ id, change, snapshot: null }));
    const requests = [{ environment: params.environment, changes }];
    const ask = { body: { project: params.projectId, withStates: true, requests } };
    const { previews } = await call(bus, PreviewChanges, ask, onBehalfOf(asked));
    const [found] = previews;
    if (found === undefined) throw new Error('A request that was asked about has an answer.');
    return found.preview;
  });
