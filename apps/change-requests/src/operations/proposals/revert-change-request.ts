import { implement, onBehalfOf } from '@bunting/bus';
import { RevertChangeRequest } from '@bunting/contracts';
import { approvalsForNewRequest } from '../../protection/environment-protection.ts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import {
  draftExistsRefusal,
  unrevertedPart,
  requireRevertible,
  createRevertingDraft,
} from '../../domain/content/create-reverting-draft.ts';
import { reviewRequirement } from '../../domain/review/review-requirement.ts';
import { DraftAlreadyExistsError } from '../../requests/request-store.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { requireProject } from '../require-project.ts';
import { loadConnectedProtections } from '../reviews/load-review-facts.ts';
import { responseWithPreview } from '../previews/responses-with-previews.ts';

/** Creates a draft of the caller that undoes an applied request. Refused if the caller already has a draft in that environment. */
export const revertChangeRequestEndpoint = ({
  bus,
  reader,
  transaction,
  allowsVoluntaryRequests,
}: ChangeRequestsContext) =>
  implement(RevertChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    await requireProject(bus, operationRequest);
    const connectedProtections = await loadConnectedProtections(
      { bus, reader },
      params.projectId,
      onBehalfOf(operationRequest),
    );
    const createDraftOf = async ({ requests, protections }: Transaction): Promise<ChangeRequest> => {
      const applied = await requests.getVisible(params, caller.id);
      const inverse = await requests.inverseOf(applied.id);
      requireRevertible(applied, inverse);
      const text = unrevertedPart(applied);
      const minApprovals = approvalsForNewRequest(
        await protections.requiredApprovals(applied),
        allowsVoluntaryRequests,
      );
      const content = { environment: applied.environment, changes: inverse.map(({ change }) => change), minApprovals };
      const identity = {
        ...(await requests.newIdentity()),
        minApprovals,
        neededApprovals: reviewRequirement(content, connectedProtections).minApprovals,
        changeIds: (await requests.newChangeIds(inverse.length)).ids,
        comment: text === undefined ? undefined : { id: await requests.newCommentId(), text },
      };
      const decision = createRevertingDraft(applied, inverse, identity, actorOf(caller, requests.now()));
      await requests.add(decision);
      return decision.request;
    };
    const replyOf = (draft: ChangeRequest) => responseWithPreview({ bus, reader }, draft, onBehalfOf(operationRequest));
    const reply = await transaction
      .commitThenReply(operationRequest, createDraftOf, replyOf)
      .catch((error: unknown) => {
        throw error instanceof DraftAlreadyExistsError ? draftExistsRefusal() : error;
      });
    if (reply === undefined)
      throw new Error(`Reverting change request ${params.id} created no draft and reported no reason.`);
    return reply;
  });
