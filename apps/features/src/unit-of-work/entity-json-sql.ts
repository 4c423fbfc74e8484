import { metadataNames } from '../features/metadata.ts';
import { SegmentEntity, FeatureEntity, sql } from './entities.ts';

/** The properties of a feature that the admin API, projections and exports return. `delivered-feature.ts` lists those for SDKs. */
const describingProperties = ['name', 'project', ...metadataNames] as const;

/** SQL: the `describingProperties` of the feature in a row, as arguments of `json_build_object`. */
export const describedMembers = (row: string): string => sql.jsonPairsOf(FeatureEntity, row, describingProperties);

/** SQL: the feature in a row as the domain's `Feature`. */
export const featureJson = (row: string): string =>
  sql.jsonOf(FeatureEntity, row, sql.jsonPairsOf(FeatureEntity, row, ['project', 'type']));

/** SQL: the segment in a row as the domain's `StoredSegment`. */
export const storedSegmentJson = (row: string): string =>
  sql.jsonOf(SegmentEntity, row, sql.jsonPairsOf(SegmentEntity, row, ['project']));
