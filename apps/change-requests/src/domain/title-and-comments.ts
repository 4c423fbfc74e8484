import { isClosedState } from '@bunting/contracts';
import type { Actor, ChangeRequest, Comment } from '../requests/change-request.ts';
import { requireNotBeingApplied } from './require-not-being-applied.ts';
import { notAllowedInState, onlyAuthorCan } from './refusals.ts';
import type { RequestRoles } from '../reviews/request-roles.ts';

/** Changes the title of a request. Refuses users other than the author and administrators, and closed requests. */
export const setTitle = (
  request: ChangeRequest,
  title: string,
  { author, isAdministrator }: Pick<RequestRoles, 'author' | 'isAdministrator'>,
): ChangeRequest => {
  if (!author && !isAdministrator) throw onlyAuthorCan('rename it');
  requireNotBeingApplied(request);
  if (isClosedState(request.state)) throw notAllowedInState('renamed', request);
  return { ...request, title: title.trim() };
};

/** A comment with its new id. */
export type NewComment = Pick<Comment, 'id' | 'text'>;

/** The request with a further comment of the actor; the same request if there is none. */
export const withComment = (
  request: ChangeRequest,
  comment: NewComment | undefined,
  { by, now }: Actor,
): ChangeRequest => {
  if (comment === undefined) return request;
  const added: Comment = { ...comment, createdBy: by, createdAt: now.toISOString() };
  return { ...request, comments: [...request.comments, added] };
};
