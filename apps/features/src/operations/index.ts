import { type Endpoint, endpoints } from '@bunting/bus';
import type { Readers } from '../persistence/readers.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { applyChangesEndpoint } from './changes/apply-changes.ts';
import { checkChangesEndpoint } from './changes/check-changes.ts';
import { previewChangesEndpoint } from './changes/preview-changes.ts';
import { archiveFeatureEndpoint } from './features/archive-feature.ts';
import { createFeatureEndpoint } from './features/create-feature.ts';
import { disableEnvironmentEndpoint } from './features/disable-environment.ts';
import { enableEnvironmentEndpoint } from './features/enable-environment.ts';
import { getFeatureEndpoint } from './features/get-feature.ts';
import { importFeaturesEndpoint } from './features/import-features.ts';
import { listFeaturesEndpoint } from './features/list-features.ts';
import { createProjectEndpoint } from './projects/create-project.ts';
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

/**
 * Everything that the service answers: writes go through the unit of work, reads past it.
 * @param featureLimit how many active features there may be; as many as wanted where it is not said
 */
export const featuresEndpoints = (
  work: UnitOfWork,
  { features, projects, segments, situation }: Readers,
  featureLimit?: number,
): readonly Endpoint[] =>
  endpoints(
    getFeatureEndpoint(features),
    listFeaturesEndpoint(features),
    createFeatureEndpoint(work, featureLimit),
    importFeaturesEndpoint(work, featureLimit),
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
    createProjectEndpoint(work),
    listProjectsEndpoint(projects),
    getProjectEnvironmentsEndpoint(projects),
    checkChangesEndpoint(situation),
    previewChangesEndpoint(situation),
    applyChangesEndpoint(work),
  );
