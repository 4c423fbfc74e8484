import { Type } from 'typebox';
import { writtenTagPattern } from '../../model/documented-patterns.ts';
import { ProjectFeatures } from '../../model/features/feature.ts';
import { optionalPageParameters } from '../../model/page-parameters.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the features of a project that are not archived: all, or those with any of the given tags and a given prefix of their name. */
export const ListFeatures = defineOperation({
  subject: 'call.features.list-features',
  operationId: 'getFeatures',
  summary: 'List the features of a project',
  description:
    'Returns every feature of the project that is not archived and matches the query. An unknown project has none.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  query: Type.Object({
    tag: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 101,
          documentedPattern: writtenTagPattern,
          description: 'a tag: `<type>:<value>`',
        }),
        {
          maxItems: 50,
          description: 'only features with this tag; repeated, features with any of them',
        },
      ),
    ),
    namePrefix: Type.Optional(
      Type.String({ maxLength: 100, description: 'only features whose name begins with this; case-insensitive' }),
    ),
    ...optionalPageParameters('features'),
  }),
  reply: ProjectFeatures,
  errors: ['ValidationError'],
});
