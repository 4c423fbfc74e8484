import { DescribeApplicationBody } from '../../model/sdks/application.ts';
import { defineOperation } from '../../operation.ts';
import { DescribedApplicationPath } from '../paths.ts';

/** Creates an application, or updates its description. Emits `application-created` the first time. */
export const DescribeApplication = defineOperation({
  subject: 'call.features.describe-application',
  operationId: 'createApplication',
  summary: 'Create or update an application',
  description: 'Creates the application, or updates its description. Omitted properties do not change.',
  tag: 'Metrics',
  http: { method: 'POST', url: '/api/admin/metrics/applications/:appName', status: 202 },
  permission: 'UPDATE_APPLICATION',
  params: DescribedApplicationPath,
  body: DescribeApplicationBody,
  errors: ['ValidationError', 'ExceedsLimitError'],
});
