import { NameList } from '../../model/name-list.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Lists the variants of a parent. */
export const ListParentVariants = defineOperation({
  subject: 'call.features.list-parent-variants',
  operationId: 'listParentVariantOptions',
  summary: 'List the variants of a parent',
  description:
    'Returns the names of the variants that a dependency on this feature can require; none for an unknown feature.',
  tag: 'Dependencies',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/parent-variants' },
  permission: 'authenticated',
  params: ProjectFeaturePath,
  reply: NameList,
});
