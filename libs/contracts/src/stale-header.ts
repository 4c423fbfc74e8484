/**
 * The header of a response that may lack the latest changes: the milliseconds since the data was last known to be current. Other
 * responses do not have the header.
 */
export const staleHeader = 'Bunting-Stale';
