import type { ClientFeature } from '@bunting/contracts';
import { featureJson, featureText, type FeatureText } from '@bunting/delivery';

type LiveFeature = Parameters<typeof featureText>[0];

/**
 * A feature of an origin as the JSON text that clients get. The store of the edge keeps the same text, so that it is in memory once, and no tree
 * of objects beside it.
 */
export class OriginFeature {
  readonly name: string;
  readonly project: string;
  readonly common: string;
  readonly dependencies: string;
  readonly setting: string;
  readonly segments: readonly number[];

  /** Members that are not known are kept. */
  constructor(feature: ClientFeature) {
    const { enabled, strategies, variants, dependencies = [], ...common } = feature;
    const { name, type, project, description, stale, impressionData, ...unknown } = common;
    const environments = { '': { enabled, strategies, variants } };
    const state = { name, type, project, description, stale, impressionData, archived: false, tags: [], dependencies };
    const text = featureText({ ...state, environments } as LiveFeature, unknown);
    const [{ json, segments }] = text.parts as readonly [FeatureText['parts'][number]];
    this.name = name;
    this.project = project;
    this.common = text.common;
    this.dependencies = text.dependencies;
    this.setting = json;
    this.segments = segments;
  }

  /** As the store takes it. */
  textIn(environment: string): FeatureText {
    const { name, project, common, dependencies, setting, segments } = this;
    return { name, project, tags: [], common, dependencies, parts: [{ environment, json: setting, segments }] };
  }

  isSame(other: OriginFeature): boolean {
    return (
      this === other ||
      (this.setting === other.setting && this.common === other.common && this.dependencies === other.dependencies)
    );
  }

  get json(): string {
    return featureJson([this.common, this.setting, this.dependencies]);
  }

  toJSON(): ClientFeature {
    return JSON.parse(this.json) as ClientFeature;
  }
}
