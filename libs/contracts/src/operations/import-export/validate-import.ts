import { ImportFeaturesBody, ImportValidation } from '../../model/features/import-export.ts';
import { defineOperation } from '../../operation.ts';

/** Checks an import. */
export const ValidateImport = defineOperation({
  subject: 'call.features.validate-import',
  operationId: 'validateImport',
  summary: 'Validate an import',
  description: 'Validates an import. Nothing is stored.',
  tag: 'Import/Export',
  http: { method: 'POST', url: '/api/admin/features-batch/validate', largeBody: true },
  isHeavy: true,
  permission: 'CREATE_FEATURE',
  readsOnly: true,
  body: ImportFeaturesBody,
  reply: ImportValidation,
  errors: ['ValidationError', 'NotFoundError'],
});
