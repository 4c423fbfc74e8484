import { AddChanges, GetProposalTarget } from '@bunting/contracts';
import { call } from '../api/call.ts';
import { ApiError } from '../api/api-error.ts';
import { notify } from '../shell/toasts.tsx';
import { askAboutProposal, type ProposalTarget } from './proposal-question-store.ts';

/** Where a change is proposed. */
interface ProposalLocation {
  readonly project: string;
  readonly environment: string;
}

/** Changes that are part of a change request now. */
export interface Proposed {
  readonly kind: 'proposed';
  readonly project: string;
  readonly environment: string;
  readonly changeRequest: Pick<ProposalTarget, 'id' | 'title' | 'state'>;
  /** whether the request was created for them */
  readonly isNew: boolean;
}

/**
 * Adds changes to the user's draft, or to a new one. Where the user has a request in review or approved instead, the user is asked first.
 * @param changes a change, or a list of them
 * @param joins a request that the user has chosen already, for changes that are added in several calls
 * @throws ApiError
 */
export async function propose(
  { project, environment }: ProposalLocation,
  changes: object,
  joins?: number,
): Promise<Proposed> {
  const params = { projectId: project, environment };
  // A refusal names the place in a list: of a change that is alone, there is none.
  const body = Array.isArray(changes) && changes.length === 1 ? (changes[0] as object) : changes;
  const { changeRequest: target } = await call(GetProposalTarget, { params });
  const isReviewed = target !== null && target.state !== 'Draft';
  const answer = !isReviewed ? 'new' : target.id === joins ? 'join' : await askAboutProposal(target);
  if (answer === 'cancel') throw new ApiError('ConflictError', 'Nothing was proposed.');
  // With `new`, changes are added to a draft or a new request, whatever has become of the others meanwhile.
  const request = { params, body, ...(answer === 'new' ? { query: { new: true } } : {}) };
  const { id, title = `Change request #${id}`, state } = await call(AddChanges, request);
  return { kind: 'proposed', project, environment, changeRequest: { id, title, state }, isNew: id !== target?.id };
}

/** What is said when changes were added to a change request: to which one, and what it needs now. */
function proposedText({ environment, changeRequest: { title, state }, isNew }: Proposed): string {
  if (isNew) return `Added to a new draft for ${environment}. Send it to review when it is complete.`;
  return state === 'Draft'
    ? `Added to your draft “${title}” for ${environment}. Send it to review when it is complete.`
    : `Added to “${title}” for ${environment}, which is in review and needs its approvals again.`;
}

/** Says to which request changes were added, with a link to it. */
export function notifyProposed(proposed: Proposed): void {
  const { project, changeRequest } = proposed;
  notify(proposedText(proposed), {
    label: 'Open',
    href: `/projects/${encodeURIComponent(project)}/change-requests/${changeRequest.id}`,
  });
}
