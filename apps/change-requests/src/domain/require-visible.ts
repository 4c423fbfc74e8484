import type { ChangeRequest } from './change-request.ts';
import { changeRequestNotFound } from './refusals.ts';

/** @throws Refusal `NotFoundError` if there is no such request, or if it is a draft of another user. */
export const requireVisible = (request: ChangeRequest | undefined, id: number, userId: number): ChangeRequest => {
  if (request === undefined || (request.state === 'Draft' && request.createdBy.id !== userId)) {
    throw changeRequestNotFound(id);
  }
  return request;
};
