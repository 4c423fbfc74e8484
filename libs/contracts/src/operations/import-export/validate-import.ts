import { ImportFeaturesBody, ImportValidation } from '../../model/export.ts';
import { defineOperation } from '../../operation.ts';

/** Check an import. */
export const ValidateImport = defineOperation({
  subject: 'call.features.validate-import',
  operationId: 'validateImport',
  summary: 'Check an import',
  description: 'Says what keeps an import from being taken, without taking it.',
  tag: 'Import/Export',
  http: { method: 'POST', url: '/api/admin/features-batch/validate', largeBody: true },
  permission: 'CREATE_FEATURE',
  idempotent: true,
  body: ImportFeaturesBody,
  reply: ImportValidation,
  errors: ['ValidationError', 'NotFoundError'],
});
