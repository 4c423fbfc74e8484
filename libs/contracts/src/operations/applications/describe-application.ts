import { DescribeApplicationBody } from '../../model/application.ts';
import { defineOperation } from '../../operation.ts';
import { DescribedApplicationPath } from '../paths.ts';

/** Say what an application is. Emits `application-created` the first time. */
export const DescribeApplication = defineOperation({
  subject: 'call.features.describe-application',
  operationId: 'createApplication',
  summary: 'Say what an application is',
  description: 'Creates the application, or changes what people say of it; what is left out stays as it is.',
  tag: 'Metrics',
  http: { method: 'POST', url: '/api/admin/metrics/applications/:appName', status: 202 },
  permission: 'UPDATE_APPLICATION',
  params: DescribedApplicationPath,
  body: DescribeApplicationBody,
  errors: ['ValidationError', 'ExceedsLimitError'],
});
