import { contentTag } from '@bunting/contracts/hashing';
import type { ChangeRequest } from './change-request.ts';

/** Tells the content of a request apart from what it was before. Its uid is no content, and older versions do not have it. */
export const contentTagOf = ({ uid: _, ...content }: ChangeRequest): string => contentTag(content);

/** The same, as `ETag` writes it. */
export const entityTagOf = (request: ChangeRequest): string => `"${contentTagOf(request)}"`;
