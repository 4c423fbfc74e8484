import type { AnyOperation } from '../operation.ts';
import { AddChanges } from './change-requests/add-changes.ts';
import { ListPendingChangeRequests } from './change-requests/list-pending-change-requests.ts';
import { SearchEvents } from './events/search-events.ts';
import { ArchiveFeature } from './features/archive-feature.ts';
import { CreateFeature } from './features/create-feature.ts';
import { DisableEnvironment } from './features/disable-environment.ts';
import { EnableEnvironment } from './features/enable-environment.ts';
import { GetFeature } from './features/get-feature.ts';
import { ImportFeatures } from './features/import-features.ts';
import { ListFeatures } from './features/list-features.ts';
import { CreateProject } from './projects/create-project.ts';
import { ListProjects } from './projects/list-projects.ts';
import { SearchFeatures } from './search/search-features.ts';
import { CreateSegment } from './segments/create-segment.ts';
import { GetSegment } from './segments/get-segment.ts';
import { ListSegments } from './segments/list-segments.ts';
import { AddStrategy } from './strategies/add-strategy.ts';
import { PatchStrategy } from './strategies/patch-strategy.ts';
import { AddFeatureTag } from './tags/add-feature-tag.ts';
import { ListFeatureTags } from './tags/list-feature-tags.ts';
import { RemoveFeatureTag } from './tags/remove-feature-tag.ts';

export * from './change-requests/add-changes.ts';
export * from './change-requests/check-changes.ts';
export * from './change-requests/list-pending-change-requests.ts';
export * from './events/search-events.ts';
export * from './features/archive-feature.ts';
export * from './features/create-feature.ts';
export * from './features/disable-environment.ts';
export * from './features/enable-environment.ts';
export * from './features/get-feature.ts';
export * from './features/import-features.ts';
export * from './features/list-features.ts';
export * from './projects/create-project.ts';
export * from './projects/get-project-environments.ts';
export * from './projects/list-projects.ts';
export * from './search/search-features.ts';
export * from './segments/create-segment.ts';
export * from './segments/get-segment.ts';
export * from './segments/list-segments.ts';
export * from './strategies/add-strategy.ts';
export * from './strategies/patch-strategy.ts';
export * from './tags/add-feature-tag.ts';
export * from './tags/list-feature-tags.ts';
export * from './tags/remove-feature-tag.ts';
export * from './paths.ts';

/** Every operation that answers HTTP; the gateway mounts exactly these. */
export const operations: readonly AnyOperation[] = [
  AddChanges,
  ListPendingChangeRequests,
  SearchEvents,
  ArchiveFeature,
  CreateFeature,
  DisableEnvironment,
  EnableEnvironment,
  GetFeature,
  ImportFeatures,
  ListFeatures,
  CreateProject,
  ListProjects,
  SearchFeatures,
  CreateSegment,
  GetSegment,
  ListSegments,
  AddStrategy,
  PatchStrategy,
  AddFeatureTag,
  ListFeatureTags,
  RemoveFeatureTag,
];
