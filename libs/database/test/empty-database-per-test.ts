import { afterEach, beforeEach } from 'vitest';
import { type FreshDatabase, freshDatabase } from '@bunting/testing';
import { type Database, type DatabaseOptions, openDatabase, type SchemaMigration } from '../src/index.ts';

/** The first migration of a test database: a table of flags. */
export const flagTable: SchemaMigration = {
  name: '2026-01-01-flags',
  statements: ['create table flag (name text primary key, rolls int not null default 0)'],
};

/** Creates an empty database before each test of the block, and drops it afterwards with all that the test opened of it. */
export const emptyDatabasePerTest = () => {
  let fresh: FreshDatabase;
  let opened: Database[];
  beforeEach(async () => {
    fresh = await freshDatabase();
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await fresh.drop();
  });
  return {
    /** the URL of the database */
    url: (): string => fresh.url,
    open: async (migrations: readonly SchemaMigration[] = [flagTable], more: Partial<DatabaseOptions> = {}) => {
      const database = await openDatabase({ url: fresh.url, name: 'test', migrations, ...more });
      opened.push(database);
      return database;
    },
    /** Excludes a database from the closing after the test: one that the test has closed itself, or that cannot be closed. */
    leaveOpen: (database: Database): void => {
      opened = opened.filter((one) => one !== database);
    },
  };
};
