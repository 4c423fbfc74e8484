export * from './canonical-json.ts';
export * from './content-tag.ts';
export * from './gravatar-url.ts';
