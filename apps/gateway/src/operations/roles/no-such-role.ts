export const noSuchRole = 'Could not find role';
