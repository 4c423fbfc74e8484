import { ExportFeaturesBody, ExportedFeatures } from '../../model/features/import-export.ts';
import { defineOperation } from '../../operation.ts';

/** Exports features. Emits `features-exported`. */
export const ExportFeatures = defineOperation({
  subject: 'call.features.export-features',
  operationId: 'exportFeatures',
  summary: 'Export features',
  description:
    'Returns features with their strategies in one environment, their tags, segments, context fields and dependencies, in the format of the import.',
  tag: 'Import/Export',
  http: { method: 'POST', url: '/api/admin/features-batch/export', takesLong: true },
  isHeavy: true,
  permission: 'authenticated',
  body: ExportFeaturesBody,
  reply: ExportedFeatures,
  errors: ['ValidationError'],
});
