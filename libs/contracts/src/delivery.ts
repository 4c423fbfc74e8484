import type { Constraint } from './model/constraint.ts';
import type { ClientStrategy } from './model/client-feature.ts';
import type { FeatureVariant } from './model/variant.ts';

/** What an SDK evaluates of a feature in one environment. */
export interface DeliveredEnvironment {
  readonly enabled: boolean;
  /** without those that are disabled, with the ids of their segments in order */
  readonly strategies: readonly ClientStrategy[];
  readonly variants: readonly FeatureVariant[];
}

/** A parent of a feature, as an SDK evaluates it. */
export interface DeliveredDependency {
  readonly feature: string;
  readonly enabled: boolean;
  readonly variants?: readonly string[];
}

/** All that SDKs evaluate of a feature, in every environment; of an archived one, where it belongs. */
export type DeliveredFeature =
  | {
      readonly name: string;
      readonly project: string;
      readonly archived: false;
      readonly type: string;
      readonly description: string | null;
      readonly stale: boolean;
      readonly impressionData: boolean;
      readonly tags: readonly { readonly type: string; readonly value: string }[];
      readonly dependencies: readonly DeliveredDependency[];
      readonly environments: Readonly<Record<string, DeliveredEnvironment>>;
    }
  | { readonly name: string; readonly project: string; readonly archived: true };

/** What the delivery to SDKs is made of, by entity. */
export interface DeliveryStates {
  readonly feature: DeliveredFeature;
  readonly segment: { readonly id: number; readonly name: string; readonly constraints: readonly Constraint[] };
  readonly environment: { readonly name: string; readonly enabled: boolean; readonly sortOrder: number };
  /** The project has the environment: its features are evaluated there. */
  readonly 'project-environment': { readonly project: string; readonly environment: string };
  /** The feature was deleted from the project, or moved out of it: SDKs that have it remove it. */
  readonly 'former-feature': { readonly name: string; readonly project: string };
}
export type DeliveryEntity = keyof DeliveryStates;

/** The payload of a message of the topic `delivery`: what an entity is now; null once it is gone. */
export type DeliveryState = {
  readonly [E in DeliveryEntity]: { readonly entity: E; readonly id: string; readonly state: DeliveryStates[E] | null };
}[DeliveryEntity];
