import { implement, onBehalfOf } from '@bunting/bus';
import { PreviewProposal } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { unsavedDraft } from '../../domain/content/create-draft.ts';
import { toProposedChange, toUncheckedForm } from '../../domain/content/proposed-change.ts';
import { refusePrototypeKeys } from '../../domain/content/refuse-prototype-keys.ts';
import { actorOf } from '../actor.ts';
import { loadPreview } from '../../previews/endpoints.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Previews changes without proposing them. Their ids are their indexes in the list. */
export const previewProposalEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(PreviewProposal, async (operationRequest) => {
    const { params, body, caller } = operationRequest;
    refusePrototypeKeys(body, '/body');
    const actor = actorOf(caller, operationRequest.now);
    const environmentRef = { project: params.projectId, environment: params.environment };
    const draft = unsavedDraft(environmentRef, actor);
    const changes = parseChanges(body).map((change, id) =>
      toProposedChange(toUncheckedForm(change), { id, position: id, createdBy: actor.by, createdAt: draft.createdAt }),
    );
    const request = { ...draft, changes };
    return (await loadPreview({ bus, reader }, request, { withStates: true }, onBehalfOf(operationRequest))).preview;
  });
