import { Type } from 'typebox';
import { ChangeRequestSearchPage } from '../../../model/change-requests/change-request-search.ts';
import { defineOperation } from '../../../operation.ts';

const filter = (description: string, documentedPattern: string) =>
  Type.Optional(Type.String({ description, documentedPattern }));

/** Finds change requests in every project that the caller may see. */
export const SearchChangeRequests = defineOperation({
  subject: 'call.change-requests.search-change-requests',
  operationId: 'searchChangeRequests',
  summary: 'Search change requests in all projects',
  description:
    'Returns the change requests that match every one of the criteria, newest first, page by page. Drafts are shown to their authors alone.',
  tag: 'Change Requests',
  http: { method: 'GET', url: '/api/admin/search/change-requests' },
  permission: 'authenticated',
  query: Type.Object({
    createdBy: filter('who proposed them: `IS:` and the id of a user', '^IS:[0-9]+$'),
    requestedApproverId: filter('whose approval is asked for: `IS:` and the id of a user', '^IS:[0-9]+$'),
    state: filter('`IS:open` for those that can still be applied, `IS:closed` for the others', '^IS:(open|closed)$'),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        default: 0,
        description: 'the number of change requests to skip',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 50,
        description: 'the maximum number of change requests on a page',
      }),
    ),
  }),
  reply: ChangeRequestSearchPage,
  errors: ['ValidationError'],
});
