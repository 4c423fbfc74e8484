export const noSuchGroup = 'Could not find group';
