import { type ExportFeaturesBody, invalid } from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';

/** Refuses an export that does not say which features. */
export const requireExportFilter = ({ features, tag, project }: ExportFeaturesBody): void => {
  if (features !== undefined || tag !== undefined || project !== undefined) return;
  throw invalid(
    'The request must say which features: see the `/body/features`, `/body/tag` and `/body/project` properties.',
    '/body/features',
  );
};

/** The event of an export. It names the features without their content: its readers need not have access to all of them. */
export const featuresExported = (
  { environment, tag, project }: ExportFeaturesBody,
  features: readonly string[],
): DomainEvent => ({
  type: 'features-exported',
  data: { environment, tag: tag ?? null, project: project ?? null, features },
});
