import type { Bus, Endpoint } from '@bunting/bus';
import type { Readers } from '../persistence/readers.ts';
import type { ApplicationEnvironments } from '../persistence/application-environments.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { applyChangesEndpoint } from './changes/apply-changes.ts';
import { checkChangesEndpoint } from './changes/check-changes.ts';
import { previewChangesEndpoint } from './changes/preview-changes.ts';
import { setProtectionEndpoint } from './changes/set-protection.ts';
import { archiveFeatureEndpoint } from './features/archive-feature.ts';
import { createFeatureEndpoint } from './features/create-feature.ts';
import { disableEnvironmentEndpoint } from './features/disable-environment.ts';
import { enableEnvironmentEndpoint } from './features/enable-environment.ts';
import { getFeatureEndpoint } from './features/get-feature.ts';
import { importFeaturesEndpoint } from './features/import-features.ts';
import { handingOver } from './features/import-proposal.ts';
import { listFeaturesEndpoint } from './features/list-features.ts';
import { hidingProjects } from './projects/hide-project.ts';
import { createProjectEndpoint } from './projects/create-project.ts';
import { countResourcesEndpoint } from './instance/count-resources.ts';
import { getLimitsEndpoint } from './instance/get-limits.ts';
import { getProjectEnvironmentsEndpoint } from './projects/get-project-environments.ts';
import { listProjectsEndpoint } from './projects/list-projects.ts';
import { createSegmentEndpoint } from './segments/create-segment.ts';
import { getSegmentEndpoint } from './segments/get-segment.ts';
import { listSegmentsEndpoint } from './segments/list-segments.ts';
import { addStrategyEndpoint } from './strategies/add-strategy.ts';
import { patchStrategyEndpoint } from './strategies/patch-strategy.ts';
import { addFeatureTagEndpoint } from './tags/add-feature-tag.ts';
import { listFeatureTagsEndpoint } from './tags/list-feature-tags.ts';
import { removeFeatureTagEndpoint } from './tags/remove-feature-tag.ts';
import { listStrategiesEndpoint } from './strategies/list-strategies.ts';
import { getStrategyEndpoint } from './strategies/get-strategy.ts';
import { getFeatureEnvironmentEndpoint } from './environments/get-feature-environment.ts';
import { updateStrategyEndpoint } from './strategies/update-strategy.ts';
import { deleteStrategyEndpoint } from './strategies/delete-strategy.ts';
import { setStrategyOrderEndpoint } from './strategies/set-strategy-order.ts';
import { updateFeatureEndpoint } from './features/update-feature.ts';
import { patchFeatureEndpoint } from './features/patch-feature.ts';
import { archiveFeaturesEndpoint } from './archive/archive-features.ts';
import { validateArchiveEndpoint } from './archive/validate-archive.ts';
import { reviveFeatureEndpoint } from './archive/revive-feature.ts';
import { reviveFeaturesEndpoint } from './archive/revive-features.ts';
import { deleteFeatureEndpoint } from './archive/delete-feature.ts';
import { deleteFeaturesEndpoint } from './archive/delete-features.ts';
import { listArchivedFeaturesEndpoint } from './archive/list-archived-features.ts';
import { listArchivedFeaturesOfProjectEndpoint } from './archive/list-archived-features-of-project.ts';
import { setStaleEndpoint } from './features/set-stale.ts';
import { validateFeatureNameEndpoint } from './features/validate-feature-name.ts';
import { cloneFeatureEndpoint } from './features/clone-feature.ts';
import { moveFeatureEndpoint } from './features/move-feature.ts';
import { enableEnvironmentsInBulkEndpoint } from './environments/enable-environments-in-bulk.ts';
import { disableEnvironmentsInBulkEndpoint } from './environments/disable-environments-in-bulk.ts';
import { addDependencyEndpoint } from './dependencies/add-dependency.ts';
import { removeDependencyEndpoint } from './dependencies/remove-dependency.ts';
import { removeDependenciesEndpoint } from './dependencies/remove-dependencies.ts';
import { listPossibleParentsEndpoint } from './dependencies/list-possible-parents.ts';
import { listParentVariantsEndpoint } from './dependencies/list-parent-variants.ts';
import { hasDependenciesEndpoint } from './dependencies/has-dependencies.ts';
import { countLifecyclesEndpoint } from './lifecycle/count-lifecycles.ts';
import { getLifecycleEndpoint } from './lifecycle/get-lifecycle.ts';
import { completeFeatureEndpoint } from './lifecycle/complete-feature.ts';
import { uncompleteFeatureEndpoint } from './lifecycle/uncomplete-feature.ts';
import { addFavoriteFeatureEndpoint } from './favorites/add-favorite-feature.ts';
import { removeFavoriteFeatureEndpoint } from './favorites/remove-favorite-feature.ts';
import { getFeatureVariantsEndpoint } from './variants/get-feature-variants.ts';
import { getEnvironmentVariantsEndpoint } from './variants/get-environment-variants.ts';
import { setEnvironmentVariantsEndpoint } from './variants/set-environment-variants.ts';
import { patchEnvironmentVariantsEndpoint } from './variants/patch-environment-variants.ts';
import { setFeatureVariantsEndpoint } from './variants/set-feature-variants.ts';
import { patchFeatureVariantsEndpoint } from './variants/patch-feature-variants.ts';
import { setVariantsInBatchEndpoint } from './variants/set-variants-in-batch.ts';
import { addFeatureLinkEndpoint } from './links/add-feature-link.ts';
import { removeFeatureLinkEndpoint } from './links/remove-feature-link.ts';
import { updateFeatureLinkEndpoint } from './links/update-feature-link.ts';
import { settingsEndpoints } from './settings.ts';
import { digestStatesEndpoint } from './states/digest-states.ts';
import { listStateVersionsEndpoint } from './states/list-state-versions.ts';
import { readStatesEndpoint } from './states/read-states.ts';
import { deliveryEndpoints } from './delivery.ts';
import { registerApplicationEndpoint, registerFrontendApplicationEndpoint } from './usage/register-application.ts';
import { reportFrontendMetricsEndpoint, reportMetricsEndpoint } from './usage/report-metrics.ts';
import { reportMetricsInBulkEndpoint } from './usage/report-metrics-in-bulk.ts';
import { getFeatureUsageEndpoint } from './usage/get-feature-usage.ts';
import { getRawFeatureMetricsEndpoint } from './usage/get-raw-feature-metrics.ts';
import { deleteApplicationEndpoint } from './applications/delete-application.ts';
import { describeApplicationEndpoint } from './applications/describe-application.ts';
import { getApplicationOverviewEndpoint } from './applications/get-application-overview.ts';
import { getApplicationEndpoint } from './applications/get-application.ts';
import { listApplicationInstancesEndpoint } from './applications/list-application-instances.ts';
import { listApplicationsEndpoint } from './applications/list-applications.ts';
import { listOutdatedSdksEndpoint } from './applications/list-outdated-sdks.ts';
import { listProjectApplicationsEndpoint } from './applications/list-project-applications.ts';
import { keepingReports, type KeepReport, type ListingLimits } from './usage/report.ts';

const usageReportEndpoints = (keep: KeepReport, environments: ApplicationEnvironments): readonly Endpoint[] => [
  registerApplicationEndpoint(keep, environments),
  registerFrontendApplicationEndpoint(keep, environments),
  reportMetricsEndpoint(keep, environments),
  reportFrontendMetricsEndpoint(keep, environments),
  reportMetricsInBulkEndpoint(keep),
];

/**
 * Everything that the service answers: writes go through the unit of work, reads past it.
 * @param bus where the change requests service and the gateway are asked
 * @param limits what bounds the list of applications
 * @param featureLimit how many active features there may be; as many as wanted where it is not said
 * @param mostDelivered how many characters of answers to SDKs are kept
 */
export const featuresEndpoints = (
  work: UnitOfWork,
  {
    features,
    parts,
    projects,
    segments,
    situation,
    settings,
    usage,
    applications,
    states,
    clients,
    applicationEnvironments,
    countResources,
  }: Readers,
  bus: Bus,
  limits: ListingLimits,
  featureLimit?: number,
  mostDelivered = 64 * 1024 * 1024,
): readonly Endpoint[] => [
  digestStatesEndpoint(states),
  listStateVersionsEndpoint(states),
  readStatesEndpoint(states),
  getFeatureEndpoint(features),
  listFeaturesEndpoint(features),
  createFeatureEndpoint(work, featureLimit),
  importFeaturesEndpoint(work, handingOver(bus, work), featureLimit),
  archiveFeatureEndpoint(work),
  enableEnvironmentEndpoint(work),
  disableEnvironmentEndpoint(work),
  addStrategyEndpoint(work),
  patchStrategyEndpoint(work),
  listFeatureTagsEndpoint(features),
  addFeatureTagEndpoint(work),
  removeFeatureTagEndpoint(work),
  createSegmentEndpoint(work),
  getSegmentEndpoint(segments),
  listSegmentsEndpoint(segments),
  createProjectEndpoint(work, hidingProjects(bus)),
  listProjectsEndpoint(projects, bus),
  getProjectEnvironmentsEndpoint(projects),
  countResourcesEndpoint(countResources),
  getLimitsEndpoint(featureLimit),
  checkChangesEndpoint(situation),
  previewChangesEndpoint(situation),
  applyChangesEndpoint(work),
  setProtectionEndpoint(work),
  listStrategiesEndpoint(parts),
  getStrategyEndpoint(parts),
  getFeatureEnvironmentEndpoint(parts),
  updateStrategyEndpoint(work),
  deleteStrategyEndpoint(work),
  setStrategyOrderEndpoint(work),
  updateFeatureEndpoint(work),
  patchFeatureEndpoint(work),
  archiveFeaturesEndpoint(work),
  validateArchiveEndpoint(parts),
  reviveFeatureEndpoint(work, featureLimit),
  reviveFeaturesEndpoint(work, featureLimit),
  deleteFeatureEndpoint(work),
  deleteFeaturesEndpoint(work),
  listArchivedFeaturesEndpoint(parts),
  listArchivedFeaturesOfProjectEndpoint(parts),
  setStaleEndpoint(work),
  validateFeatureNameEndpoint(projects),
  cloneFeatureEndpoint(work, featureLimit),
  moveFeatureEndpoint(work),
  enableEnvironmentsInBulkEndpoint(work),
  disableEnvironmentsInBulkEndpoint(work),
  addDependencyEndpoint(work),
  removeDependencyEndpoint(work),
  removeDependenciesEndpoint(work),
  listPossibleParentsEndpoint(parts),
  listParentVariantsEndpoint(parts),
  hasDependenciesEndpoint(parts),
  getLifecycleEndpoint(parts),
  countLifecyclesEndpoint(parts),
  completeFeatureEndpoint(work),
  uncompleteFeatureEndpoint(work),
  addFeatureLinkEndpoint(work),
  updateFeatureLinkEndpoint(work),
  removeFeatureLinkEndpoint(work),
  addFavoriteFeatureEndpoint(work),
  removeFavoriteFeatureEndpoint(work),
  getFeatureVariantsEndpoint(parts),
  getEnvironmentVariantsEndpoint(parts),
  setEnvironmentVariantsEndpoint(work),
  patchEnvironmentVariantsEndpoint(work),
  setFeatureVariantsEndpoint(work),
  patchFeatureVariantsEndpoint(work),
  setVariantsInBatchEndpoint(work),
  ...settingsEndpoints(work, settings, bus, featureLimit),
  ...deliveryEndpoints(clients, applicationEnvironments, mostDelivered),
  ...usageReportEndpoints(keepingReports(work, limits), applicationEnvironments),
  getFeatureUsageEndpoint(usage),
  getRawFeatureMetricsEndpoint(usage),
  listApplicationsEndpoint(applications),
  getApplicationEndpoint(applications),
  getApplicationOverviewEndpoint(applications),
  listApplicationInstancesEndpoint(applications),
  listProjectApplicationsEndpoint(applications),
  listOutdatedSdksEndpoint(applications),
  describeApplicationEndpoint(work, applications, limits.limit),
  deleteApplicationEndpoint(work),
];
