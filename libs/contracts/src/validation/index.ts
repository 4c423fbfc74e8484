export * from './parse.ts';
export * from './parse-changes.ts';
export * from './query-parameter.ts';
