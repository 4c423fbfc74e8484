import { metadataNames } from '../domain/features/metadata.ts';
import { SegmentEntity, FeatureEntity, sql } from './entities.ts';

/** The properties that the admin API, projections and exports return by name. `delivered-feature.ts` lists those for SDKs. */
const describedBy = ['name', 'project', ...metadataNames] as const;

/** SQL: the properties that the admin API, projections and exports return by name, as arguments of `json_build_object`. */
export const describedMembers = (row: string): string => sql.jsonPairsOf(FeatureEntity, row, describedBy);

/** SQL: the feature in a row as the domain's `Feature`. */
export const featureJson = (row: string): string =>
  sql.jsonOf(FeatureEntity, row, sql.jsonPairsOf(FeatureEntity, row, ['project', 'type']));

/** SQL: the segment in a row as the domain's `StoredSegment`. */
export const storedSegmentJson = (row: string): string =>
  sql.jsonOf(SegmentEntity, row, sql.jsonPairsOf(SegmentEntity, row, ['project']));
