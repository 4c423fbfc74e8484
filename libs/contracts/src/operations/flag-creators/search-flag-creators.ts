import { Type } from 'typebox';
import { FlagCreatorPage } from '../../model/features/flag-creators.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the users who created features in projects that the caller sees, by name, page by page. */
export const SearchFlagCreators = defineOperation({
  subject: 'call.features.search-flag-creators',
  operationId: 'getFlagCreators',
  summary: 'Search the creators of features',
  description: 'Returns the users who created features in projects that the caller sees, by name, page by page.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/flag-creators' },
  isHeavy: true,
  permission: 'authenticated',
  query: Type.Object({
    q: Type.Optional(Type.String({ maxLength: 255, description: 'a part of the name; case-insensitive' })),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'the number to skip; default: 0' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'the number on a page; default: 50' }),
    ),
  }),
  reply: FlagCreatorPage,
  errors: ['ValidationError'],
});
