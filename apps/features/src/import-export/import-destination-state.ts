import type { Tag } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import type { FeatureNaming } from '../names.ts';
import type { ProjectContext } from '../projects/project-context.ts';

/** The current state of the project and environment of an import, with every existing object that the file names. */
export interface ImportDestinationState {
  readonly project: string;
  readonly environment: string;
  readonly naming?: FeatureNaming | null | undefined;
  /** the context of the project, of which an import looks up segments by name */
  readonly projectContext: ProjectContext;
  /** by name; of any project, also archived ones */
  readonly features: ReadonlyMap<string, Feature>;
  /** by name of a feature: the active features that depend on it */
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly tagTypes: ReadonlySet<string>;
  readonly tags: readonly Tag[];
  /** the ids in the file that strategies of any feature have already */
  readonly takenStrategyIds: ReadonlySet<string>;
}
