import { tagOf } from '@bunting/contracts';
import type { ChangeRequest } from './change-request.ts';

/** What a request is told apart by from what it was before: all that is kept of it, as `ETag` writes it. */
export const entityTagOf = (request: ChangeRequest): string => `"${tagOf(request)}"`;
