import type { ChangeRequest } from '../requests/change-request.ts';
import { changeRequestNotFound } from './refusals.ts';

/** Whether a user may see a request: a draft is visible to its author only. */
export const maySeeRequest = (
  { state, createdBy }: Pick<ChangeRequest, 'state' | 'createdBy'>,
  userId: number,
): boolean => state !== 'Draft' || createdBy.id === userId;

/** @throws Refusal `NotFoundError` if there is no such request, or if it is a draft of another user. */
export const requireVisible = (request: ChangeRequest | undefined, id: number, userId: number): ChangeRequest => {
  if (request === undefined || !maySeeRequest(request, userId)) throw changeRequestNotFound(id);
  return request;
};
