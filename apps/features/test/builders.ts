import { type FeatureFields, newFeatureMetadata, Refusal, type UserReference } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import type { Feature, Strategy } from '../src/features/feature.ts';
import type { ProjectContext } from '../src/projects/project-context.ts';
import type { StoredSegment } from '../src/segments/segment.ts';

/** A strategy that matches all users, unless the test specifies otherwise. */
export const aStrategy = (about: Partial<Strategy> = {}): Strategy => ({
  id: '8c0f4d2e-0000-4000-8000-000000000001',
  name: 'default',
  title: null,
  disabled: false,
  sortOrder: 0,
  constraints: [],
  parameters: {},
  variants: [],
  segments: [],
  ...about,
});

/** A creator or collaborator without another name than the given one. */
export const aUserReference = (id: number, name: string): UserReference => ({
  id,
  name,
  imageUrl: gravatarUrlOf(name),
});

/** A value of each field of a feature, none of them that of a new one. */
export const otherMetadata = {
  type: 'experiment',
  description: 'bright',
  stale: true,
  impressionData: true,
} as const satisfies FeatureFields;

/** The properties of a test's feature; strategies and `enabled` are those in the environment `development`. */
export interface FeatureAbout extends Partial<Feature> {
  readonly strategies?: readonly Strategy[];
  readonly enabled?: boolean;
}

/** The feature `checkout` of the project `shop`, disabled and without strategies, unless the test specifies otherwise. */
export const aFeature = ({ strategies = [], enabled = false, ...about }: FeatureAbout = {}): Feature => ({
  name: 'checkout',
  project: 'shop',
  ...newFeatureMetadata,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: aUserReference(1, 'mia'),
  archivedAt: null,
  environments: { development: { enabled, strategies, variants: [] } },
  tags: [],
  dependencies: [],
  lifecycle: [{ stage: 'initial', enteredStageAt: '2026-01-01T00:00:00.000Z' }],
  links: [],
  collaborators: [],
  ...about,
});

/** The global segment `beta`, unless the test specifies otherwise. */
export const aSegment = (about: Partial<StoredSegment> = {}): StoredSegment => ({
  id: 1,
  name: 'beta',
  description: null,
  project: null,
  constraints: [],
  createdBy: 'mia',
  createdAt: '2026-01-01T00:00:00.000Z',
  ...about,
});

/** The project context of a fresh installation, with the project `shop` in `development` and `production`. */
export const someProjectContext = (about: Partial<ProjectContext> = {}): ProjectContext => ({
  environments: [
    { name: 'development', type: 'development', sortOrder: 2, enabled: true },
    { name: 'production', type: 'production', sortOrder: 3, enabled: true },
  ],
  defaultStrategies: {},
  defaultStickiness: 'default',
  allowsRegex: false,
  strategyTypes: new Set(['default', 'flexibleRollout', 'remoteAddress', 'applicationHostname', 'userWithId']),
  contextFields: new Map(
    ['environment', 'userId', 'appName', 'currentTime', 'sessionId'].map((name) => [name, { legalValues: [] }]),
  ),
  segments: new Map(),
  ...about,
});

/** The refusal that a job throws; fails the test if it throws none. */
export const refusalOf = (job: () => unknown): Refusal => {
  try {
    job();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('was not refused');
};
