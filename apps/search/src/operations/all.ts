export { getReindexStatusEndpoint } from './get-reindex-status.ts';
export { searchFeaturesEndpoint } from '../search/endpoints.ts';
export { startReindexEndpoint } from './start-reindex.ts';
