import { ImportFeaturesBody, ImportReport } from '../../model/features/import-export.ts';
import { defineOperation } from '../../operation.ts';

/** Imports features from an export, all or nothing. Emits `features-imported` and the events of the changes. */
export const ImportFeatures = defineOperation({
  subject: 'call.features.import-features',
  operationId: 'importToggles',
  summary: 'Import features',
  description:
    'Imports an export of Unleash into a project and an environment, all or nothing: it is refused if a segment, a context field or a strategy type is missing. Repeating an import changes nothing.',
  tag: 'Import/Export',
  http: { method: 'POST', url: '/api/admin/features-batch/import', largeBody: true },
  permission: 'CREATE_FEATURE',
  body: ImportFeaturesBody,
  reply: ImportReport,
  errors: ['ValidationError', 'PatternError', 'ExceedsLimitError', 'NotFoundError', 'InvalidOperationError'],
});
