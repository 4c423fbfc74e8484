import { NameList } from '../../model/name-list.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Lists possible parents. */
export const ListPossibleParents = defineOperation({
  subject: 'call.features.list-possible-parents',
  operationId: 'listParentOptions',
  summary: 'List possible parents',
  description: 'Returns the names of the features that this one could depend on; none for an unknown feature.',
  tag: 'Dependencies',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/parents' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectFeaturePath,
  reply: NameList,
});
