import { ImportFeaturesBody, ImportReport } from '../../model/export.ts';
import { defineOperation } from '../../operation.ts';

/** Takes features from an export, all or nothing. Emits `features-imported` and what it changed. */
export const ImportFeatures = defineOperation({
  subject: 'call.features.import-features',
  operationId: 'importToggles',
  summary: 'Import features',
  description:
    'Takes what Unleash exported into a project and an environment: all of it, or nothing when it names a segment, a context field or a strategy type that is not there. The same import once more changes nothing.',
  tag: 'Import/Export',
  http: { method: 'POST', url: '/api/admin/features-batch/import', largeBody: true },
  permission: 'CREATE_FEATURE',
  body: ImportFeaturesBody,
  reply: ImportReport,
  errors: ['ValidationError', 'PatternError', 'ExceedsLimitError', 'NotFoundError'],
});
