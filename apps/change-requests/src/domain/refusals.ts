import { type ChangeRequestState, notFound, type Refusal, refusal } from '@bunting/contracts';

// One function for each refusal that several rules or operations share. The messages are those of Unleash where it has them.

/** 404: there is no such request, or it is a draft of another user. */
export const changeRequestNotFound = (id: number): Refusal => notFound(`Could not find change request with id ${id}`);

/** 403: the caller is not the author. @param action what only the author can do, such as `rename it` */
export const onlyAuthorCan = (action: string): Refusal =>
  refusal('NoAccessError', `Only the author of a change request can ${action}`);

/** 409: the content was edited since the caller read it, or while it was being edited. */
export const changedBySomeoneElse = (): Refusal =>
  refusal('ConflictError', 'Change request was changed by someone else');

/** 409: its state does not permit it. @param done what cannot be done to the request, such as `renamed` */
export const notAllowedInState = (done: string, { state }: { readonly state: ChangeRequestState }): Refusal =>
  refusal('ConflictError', `A change request in state "${state}" cannot be ${done}`);

/** 409: no transition leads from the state of the request to the other. */
export const transitionNotAllowed = (to: string, { state }: { readonly state: ChangeRequestState }): Refusal =>
  refusal('ConflictError', `Change request cannot go from "${state}" to "${to}"`);

/** 409: approvals were removed since the request was approved. */
export const approvalsLost = (): Refusal =>
  refusal('ConflictError', 'Change request no longer has the required approvals');
