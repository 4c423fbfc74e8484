export { getReindexStatusEndpoint } from './get-reindex-status.ts';
export { searchFeaturesEndpoint } from './search-features.ts';
export { startReindexEndpoint } from './start-reindex.ts';
