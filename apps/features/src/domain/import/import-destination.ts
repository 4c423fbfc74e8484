import type { Tag } from '@bunting/contracts';
import type { Feature, Person } from '../features/feature.ts';
import type { FeatureNaming } from '../names.ts';
import type { ProjectContext } from '../project-context.ts';

/** What there is where the features go to. All that the file names must be in it, if it exists. */
export interface ImportDestination {
  readonly project: string;
  readonly environment: string;
  readonly naming?: FeatureNaming | null | undefined;
  /** of the project; the segments among them are found by name */
  readonly projectContext: ProjectContext;
  /** by name, in whichever project, archived ones too */
  readonly features: ReadonlyMap<string, Feature>;
  /** by name of a feature: the active features that depend on it */
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly tagTypes: ReadonlySet<string>;
  readonly tags: readonly Tag[];
  /** ids that strategies have, of whichever feature */
  readonly takenStrategyIds: ReadonlySet<string>;
}

/** Who imports, when, and where new ids come from. */
export interface Importer {
  readonly now: string;
  readonly by: Person;
  readonly newStrategyId: () => string;
  /** false for a project that is hidden from who imports: a refusal does not name it, nor what is in it */
  readonly maySee: (project: string) => boolean;
}
