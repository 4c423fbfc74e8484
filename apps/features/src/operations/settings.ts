import type { Bus, Endpoint } from '@bunting/bus';
import type { SettingsReaders } from '../persistence/settings-readers.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { deleteSegmentEndpoint } from './segments/delete-segment.ts';
import {
  listSegmentsOfStrategyEndpoint,
  listStrategiesOfSegmentEndpoint,
  validateSegmentNameEndpoint,
} from './segments/segment-readings.ts';
import { setStrategySegmentsEndpoint } from './segments/set-strategy-segments.ts';
import { updateSegmentEndpoint } from './segments/update-segment.ts';
import {
  getContextFieldEndpoint,
  listContextFieldsEndpoint,
  listStrategiesOfContextFieldEndpoint,
  validateConstraintEndpoint,
  validateContextFieldNameEndpoint,
} from './context/context-field-readings.ts';
import { createContextFieldEndpoint } from './context/create-context-field.ts';
import { deleteContextFieldEndpoint } from './context/delete-context-field.ts';
import { removeLegalValueEndpoint, setLegalValueEndpoint } from './context/legal-values.ts';
import { updateContextFieldEndpoint } from './context/update-context-field.ts';
import { exportFeaturesEndpoint } from './features/export-features.ts';
import { addFavoriteProjectEndpoint, removeFavoriteProjectEndpoint } from './favorites/favorite-project.ts';
import { addProjectEnvironmentEndpoint } from './projects/add-project-environment.ts';
import { archiveProjectEndpoint } from './projects/archive-project.ts';
import { deleteProjectEndpoint } from './projects/delete-project.ts';
import { removeProjectEnvironmentEndpoint } from './projects/remove-project-environment.ts';
import { reviveProjectEndpoint } from './projects/revive-project.ts';
import { setDefaultStrategyEndpoint } from './projects/set-default-strategy.ts';
import { hidingProjects } from './projects/hide-project.ts';
import { updateProjectEndpoint } from './projects/update-project.ts';
import { updateProjectSettingsEndpoint } from './projects/update-project-settings.ts';
import { findFlagCreatorsEndpoint, getPersonalDashboardEndpoint } from './projects/personal-dashboard.ts';
import {
  getPersonalDashboardProjectEndpoint,
  getProjectDoraEndpoint,
  getProjectEndpoint,
  getProjectHealthEndpoint,
  getProjectInsightsEndpoint,
  getProjectOverviewEndpoint,
  getProjectStatusEndpoint,
  listFlagCreatorsEndpoint,
  validateProjectIdEndpoint,
} from './projects/project-readings.ts';
import { cloneEnvironmentEndpoint } from './environments/clone-environment.ts';
import { createEnvironmentEndpoint } from './environments/create-environment.ts';
import { deleteEnvironmentEndpoint } from './environments/delete-environment.ts';
import {
  getEnvironmentEndpoint,
  listEnvironmentsEndpoint,
  listEnvironmentsOfProjectEndpoint,
  validateEnvironmentNameEndpoint,
} from './environments/environment-readings.ts';
import { setEnvironmentOrderEndpoint } from './environments/set-environment-order.ts';
import { switchEnvironmentOffEndpoint, switchEnvironmentOnEndpoint } from './environments/switch-environment.ts';
import { updateEnvironmentEndpoint } from './environments/update-environment.ts';
import { validateImportEndpoint } from './features/validate-import.ts';
import { listFeatureTypesEndpoint } from './feature-types/list-feature-types.ts';
import { setFeatureTypeLifetimeEndpoint } from './feature-types/set-feature-type-lifetime.ts';
import { createStrategyTypeEndpoint } from './strategy-types/create-strategy-type.ts';
import { deleteStrategyTypeEndpoint } from './strategy-types/delete-strategy-type.ts';
import {
  deprecateStrategyTypeEndpoint,
  reactivateStrategyTypeEndpoint,
} from './strategy-types/deprecate-strategy-type.ts';
import { getStrategyTypeEndpoint, listStrategyTypesEndpoint } from './strategy-types/strategy-type-readings.ts';
import { updateStrategyTypeEndpoint } from './strategy-types/update-strategy-type.ts';
import { createTagTypeEndpoint } from './tag-types/create-tag-type.ts';
import { deleteTagTypeEndpoint } from './tag-types/delete-tag-type.ts';
import { getTagTypeEndpoint, listTagTypesEndpoint, validateTagTypeEndpoint } from './tag-types/tag-type-readings.ts';
import { updateTagTypeEndpoint } from './tag-types/update-tag-type.ts';
import { createTagEndpoint } from './tags/create-tag.ts';
import { deleteTagEndpoint } from './tags/delete-tag.ts';
import { tagFeaturesInBulkEndpoint } from './tags/tag-features-in-bulk.ts';
import { getTagEndpoint, listTagsEndpoint, listTagsOfTypeEndpoint } from './tags/tag-readings.ts';
import { updateFeatureTagsEndpoint } from './tags/update-feature-tags.ts';

/** What is answered about all that surrounds features: what they are tagged with, limited by and grouped in. */
export const settingsEndpoints = (
  work: UnitOfWork,
  {
    tags,
    featureTypes,
    strategyTypes,
    environments,
    projectOverviews,
    dashboard,
    contextFields,
    segmentUses,
  }: SettingsReaders,
  bus: Bus,
  featureLimit?: number,
): readonly Endpoint[] => [
  updateFeatureTagsEndpoint(work),
  tagFeaturesInBulkEndpoint(work),
  listTagsEndpoint(tags),
  listTagsOfTypeEndpoint(tags),
  getTagEndpoint(tags),
  createTagEndpoint(work),
  deleteTagEndpoint(work),
  listTagTypesEndpoint(tags),
  getTagTypeEndpoint(tags),
  validateTagTypeEndpoint(tags),
  createTagTypeEndpoint(work),
  updateTagTypeEndpoint(work),
  deleteTagTypeEndpoint(work),
  updateSegmentEndpoint(work),
  deleteSegmentEndpoint(work),
  setStrategySegmentsEndpoint(work),
  listStrategiesOfSegmentEndpoint(segmentUses, bus),
  listSegmentsOfStrategyEndpoint(segmentUses),
  validateSegmentNameEndpoint(segmentUses),
  listContextFieldsEndpoint(contextFields),
  getContextFieldEndpoint(contextFields),
  listStrategiesOfContextFieldEndpoint(contextFields),
  validateContextFieldNameEndpoint(contextFields),
  validateConstraintEndpoint(contextFields),
  createContextFieldEndpoint(work),
  updateContextFieldEndpoint(work),
  setLegalValueEndpoint(work),
  removeLegalValueEndpoint(work),
  deleteContextFieldEndpoint(work),
  exportFeaturesEndpoint(work),
  validateImportEndpoint(work, featureLimit),
  getProjectOverviewEndpoint(projectOverviews, bus),
  getProjectEndpoint(projectOverviews, bus),
  getProjectHealthEndpoint(projectOverviews, bus),
  getProjectInsightsEndpoint(projectOverviews, bus),
  getProjectDoraEndpoint(projectOverviews),
  getProjectStatusEndpoint(projectOverviews, bus),
  getPersonalDashboardEndpoint(dashboard, bus),
  getPersonalDashboardProjectEndpoint(projectOverviews, bus),
  findFlagCreatorsEndpoint(dashboard),
  listFlagCreatorsEndpoint(projectOverviews),
  validateProjectIdEndpoint(projectOverviews),
  updateProjectEndpoint(work, hidingProjects(bus)),
  updateProjectSettingsEndpoint(work, hidingProjects(bus)),
  archiveProjectEndpoint(work),
  reviveProjectEndpoint(work),
  deleteProjectEndpoint(work),
  addProjectEnvironmentEndpoint(work),
  removeProjectEnvironmentEndpoint(work),
  setDefaultStrategyEndpoint(work),
  addFavoriteProjectEndpoint(work),
  removeFavoriteProjectEndpoint(work),
  listEnvironmentsEndpoint(environments, bus),
  getEnvironmentEndpoint(environments, bus),
  listEnvironmentsOfProjectEndpoint(environments, bus),
  validateEnvironmentNameEndpoint(environments),
  createEnvironmentEndpoint(work),
  cloneEnvironmentEndpoint(work, bus),
  updateEnvironmentEndpoint(work),
  setEnvironmentOrderEndpoint(work),
  deleteEnvironmentEndpoint(work),
  switchEnvironmentOnEndpoint(work),
  switchEnvironmentOffEndpoint(work),
  listFeatureTypesEndpoint(featureTypes),
  setFeatureTypeLifetimeEndpoint(work),
  listStrategyTypesEndpoint(strategyTypes),
  getStrategyTypeEndpoint(strategyTypes),
  createStrategyTypeEndpoint(work),
  updateStrategyTypeEndpoint(work),
  deleteStrategyTypeEndpoint(work),
  deprecateStrategyTypeEndpoint(work),
  reactivateStrategyTypeEndpoint(work),
];
