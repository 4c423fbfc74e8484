export * from './parse.ts';
export * from './parse-changes.ts';
