/** The header with the maximum staleness of a response, in milliseconds. Responses that are current lack it. */
export const staleHeader = 'Bunting-Stale';
