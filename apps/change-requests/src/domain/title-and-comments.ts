import { invalid, isClosedState } from '@bunting/contracts';
import type { Actor, ChangeRequest, Comment } from './change-request.ts';
import { requireNotBeingApplied } from './content/edit-content.ts';
import { cannotBe, onlyAuthorCan } from './refusals.ts';
import type { RequestRoles } from './review/roles.ts';

/** The text without surrounding white space. Refuses an empty text, and more than `maxLength` characters. */
export const requireText = (text: string, maxLength: number, path: string): string => {
  const trimmed = text.trim();
  if (trimmed === '') throw invalid(`The \`${path}\` property is not allowed to be empty.`, path);
  if ([...trimmed].length > maxLength) {
    throw invalid(`The \`${path}\` property must be at most ${maxLength} characters long.`, path);
  }
  return trimmed;
};

/** Changes the title of a request. Refuses users other than the author and administrators, and closed requests. */
export const setTitle = (
  request: ChangeRequest,
  title: string,
  { author, isAdministrator }: Pick<RequestRoles, 'author' | 'isAdministrator'>,
): ChangeRequest => {
  if (!author && !isAdministrator) throw onlyAuthorCan('rename it');
  requireNotBeingApplied(request);
  if (isClosedState(request.state)) throw cannotBe('renamed', request);
  return { ...request, title: requireText(title, 255, '/body/title') };
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
