import type { Constraint } from '../strategies/constraints.ts';
import type { ClientStrategy } from './client-features.ts';
import type { FeatureFieldsFor } from '../features/feature-fields.ts';
import type { FeatureVariant } from '../features/variants.ts';

/** The part of a feature in one environment that SDKs evaluate. */
export interface DeliveredEnvironment {
  readonly enabled: boolean;
  /** the enabled strategies, in their order, each with the ids of its segments in ascending order */
  readonly strategies: readonly ClientStrategy[];
  readonly variants: readonly FeatureVariant[];
}

/** A feature that another one depends on, and how it must evaluate. */
export interface DeliveredDependency {
  readonly feature: string;
  readonly enabled: boolean;
  readonly variants?: readonly string[];
}

/** The part of a feature that SDKs evaluate, in every environment; of an archived feature only its name and project. */
export type DeliveredFeature =
  | (FeatureFieldsFor<'servers'> & {
      readonly name: string;
      readonly project: string;
      readonly archived: false;
      readonly tags: readonly { readonly type: string; readonly value: string }[];
      readonly dependencies: readonly DeliveredDependency[];
      readonly environments: Readonly<Record<string, DeliveredEnvironment>>;
    })
  | { readonly name: string; readonly project: string; readonly archived: true };

/** The list of a segment by reference: its blocks are read by their hashes. */
export interface DeliveredSegmentList {
  readonly contextName: string;
  readonly size: number;
  /** known where the list is stored; edges get none */
  readonly version?: number;
  /** the hash of the list of its blocks, as `@bunting/contracts/id-blocks` makes it */
  readonly root: string;
  /** whether server SDKs get the ids, as the origin of an edge says; else the limit of the gateway or edge decides */
  readonly sentToServerSdks?: boolean;
}

/** The part of a segment that SDKs evaluate. */
export interface DeliveredSegment {
  readonly id: number;
  readonly name: string;
  /** of a segment with a list, the last one matches nobody: a reader that does not know lists must not take the segment for one without */
  readonly constraints: readonly Constraint[];
  readonly list?: DeliveredSegmentList;
}

/** The types of entities in the topic `delivery`, each with the type of its state. */
export interface DeliveryStateTypes {
  readonly feature: DeliveredFeature;
  readonly segment: DeliveredSegment;
  readonly environment: { readonly name: string; readonly enabled: boolean; readonly sortOrder: number };
  /** The project uses the environment: its features are evaluated there. */
  readonly 'project-environment': { readonly project: string; readonly environment: string };
  /** The feature was deleted from the project, or moved out of it: SDKs that have it remove it. */
  readonly 'former-feature': { readonly name: string; readonly project: string };
  /** A backup was restored: an earlier revision may include writes that were lost, so an SDK that has one gets the complete state. */
  readonly history: { readonly restoredAt: string };
}
export type DeliveryEntity = keyof DeliveryStateTypes;

/** The payload of a message of the topic `delivery`: the current state of an entity, null after its deletion. */
export type DeliveryState = {
  readonly [E in DeliveryEntity]: {
    readonly entity: E;
    readonly id: string;
    readonly state: DeliveryStateTypes[E] | null;
  };
}[DeliveryEntity];
