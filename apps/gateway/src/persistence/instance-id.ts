import type { ReadDatabase, Statement } from '@bunting/database';

// The token key never changes, so its fingerprint identifies the installation; the id is a hash of it and reveals nothing.
const selectInstanceId: Statement = {
  name: 'instance-id',
  text: "select md5('instance' || encode(fingerprint, 'hex'))::uuid as id from gateway_secret where name = 'token key'",
};

/** The id of this installation: the same on every replica for the lifetime of the database. */
export const instanceId = async (database: ReadDatabase): Promise<string> => {
  const [row] = await database.read<{ id: string }>(selectInstanceId, []);
  if (row === undefined)
    throw new Error('The table gateway_secret has no token key: the gateway stores it at its first start.');
  return row.id;
};
